// All outputs at once against each alone: what is determined, and the exact results. The cases of
// the suites, and inputs that lie around every condition.
#include <gtest/gtest.h>

#include "conformance/data/suite.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "reference/gemm/exactness.hpp"
#include "reference/gemm/oracle.hpp"

namespace mx {
namespace {

struct Counts {
    std::size_t determined = 0, undetermined = 0;
};

void expect_alike(const Case& c, const std::vector<CodeTensor>& inputs, Counts& counts) {
    const gemm::ProblemView problem = gemm_problem_of(c, inputs);
    const std::vector<Code> results = gemm::expected_results(problem);
    const std::vector<bool> undetermined = undetermined_outputs(problem, results);
    ASSERT_EQ(undetermined.size(), results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const gemm::Output output = problem.output({at / problem.n, at % problem.n});
        const std::string why = undetermined_because(problem, output);
        ASSERT_EQ(undetermined[i], !why.empty()) << print(c) << " output " << i << ": " << why;
        ASSERT_EQ(results[i], exact_result(problem, output)) << print(c) << " output " << i;
        (why.empty() ? counts.determined : counts.undetermined)++;
    }
}

// Small ones of each line: the largest say no more, and take long.
TEST(GemmManyAtOnce, IsAsEachAloneInTheSuites) {
    constexpr std::int64_t products_max = 1 << 18;
    Sources sources;
    PlanRequest request;
    request.suite_glob = "gemm";
    request.level = "full";
    const auto plan = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    Counts counts;
    std::size_t cases = 0;
    for (const PlannedCase& planned : plan.value()) {
        const GemmProblem& gemm = planned.c.gemm;
        const bool is_large = gemm.batches * gemm.m * gemm.n * gemm.k > products_max;
        if (gemm.model != ModelChoice{} || is_large) continue;
        expect_alike(planned.c, make_gemm_inputs(planned.c), counts);
        if (testing::Test::HasFatalFailure()) return;
        ++cases;
    }
    EXPECT_GT(cases, 500u);
    EXPECT_GT(counts.determined, 50000u);
}

TEST(GemmManyAtOnce, IsAsEachAloneOfAnyData) {
    Counts counts;
    for (const char* factors :
         {"a=mxfp8-e4m3 b=mxfp8-e5m2", "a=mxfp4-e2m1 b=mxfp4-e2m1", "a=nvfp4 b=nvfp4",
          "a=mxfp8-e4m3 b=e4m3:tensor", "a=e4m3:tensor b=e5m2:tensor", "a=e4m3:1x128 b=e5m2:1x128",
          "a=e4m3:1x128 b=e4m3:128x128", "a=bf16 b=bf16", "a=f16 b=f16", "a=f32 b=f32"})
        for (const char* fields :
             {"shape=9x7x160", "shape=5x12x33 output=f16 beta=0.5 batches=2",
              "shape=8x6x3 output=bf16 alpha=0x21800000 epilogue=bias-relu",
              "shape=8x6x2 output=f32 alpha=0x53800000 beta=-1", "shape=8x6x1 output=bf16",
              "shape=8x6x40 output=e4m3 epilogue=bias", "shape=8x40x40 output=nvfp4"})
            for (const GemmFamily& family : gemm_data_families()) {
                const auto c = parse_case(std::string("gemm ") + factors + " " + fields +
                                          " data=" + std::string(family.name));
                if (!c || !check_combination(c.value()) || !check_gemm_data(c.value())) continue;
                expect_alike(c.value(), make_gemm_inputs(c.value()), counts);
                if (testing::Test::HasFatalFailure()) return;
            }
    EXPECT_GT(counts.determined, 10000u);
    EXPECT_GT(counts.undetermined, 10000u);
}

// Scales around both ends of every range, elements with few digits: conditions on scales decide.
class ExtremeScales {
public:
    explicit ExtremeScales(std::uint64_t seed) : state_(seed) {}

    std::vector<CodeTensor> inputs(const Case& c) {
        std::vector<CodeTensor> inputs = make_gemm_inputs(c);
        const std::vector<GemmTensor> tensors = tensors_of(c);
        // Those of both factors take the same place of their ranges, or opposite ones.
        const std::uint64_t base = drawn();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (tensors[i].part == GemmPart::scales_a) fill_scales(inputs[i], base % 256);
            if (tensors[i].part == GemmPart::scales_b)
                fill_scales(inputs[i], base >> 8 & 1 ? base % 256 : 254 - base % 255);
            if (tensors[i].part == GemmPart::a || tensors[i].part == GemmPart::b)
                thin_out(inputs[i]);
        }
        return inputs;
    }

private:
    std::uint64_t drawn() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ >> 24;
    }
    void fill_scales(CodeTensor& scales, std::uint64_t base) {
        const bool is_f32 = scales.width == 4;
        for (std::size_t i = 0; i < scales.count(); ++i) {
            const std::uint64_t near = std::min<std::uint64_t>(base + drawn() % 6, 255);
            std::uint32_t code = static_cast<std::uint32_t>(near);
            if (is_f32) code <<= 23;
            if (is_f32 && drawn() % 64 == 0) code |= 0x80000000;
            if (is_f32 && drawn() % 256 == 0) code |= 1;
            if (drawn() % 128 == 0) code = static_cast<std::uint32_t>(drawn()) >> (is_f32 ? 0 : 24);
            scales.set(i, is_f32 ? code : code & 255);
        }
    }
    void thin_out(CodeTensor& codes) {
        const ElementFormat format = *find_element_format(codes.type);
        // Around 1, or near one end of the format.
        const auto shift = static_cast<int>(drawn() % 3) - 1;
        const auto binades =
            static_cast<std::uint32_t>(shift * std::max(0, format.exponent_bias - 2));
        const std::uint32_t one = code_of_one(format) + (binades << format.mantissa_bits);
        for (std::size_t i = 0; i < codes.count(); ++i) {
            const std::uint64_t bits = drawn();
            if (bits % 8 == 0) continue;
            const auto half = static_cast<std::uint32_t>(bits >> 8 & 1) << format.mantissa_bits;
            codes.set(i, bits % 8 < 4 ? 0 : one - half);
        }
    }
    std::uint64_t state_;
};

TEST(GemmManyAtOnce, IsAsEachAloneAtTheEndsOfRanges) {
    Counts counts;
    for (const char* factors :
         {"a=mxfp8-e4m3 b=mxfp8-e5m2", "a=mxfp8-e5m2 b=e4m3:tensor", "a=e5m2:tensor b=e5m2:tensor",
          "a=e5m2:row b=e4m3:row", "a=e4m3:1x128 b=e5m2:1x128", "a=nvfp4 b=nvfp4", "a=bf16 b=bf16"})
        for (const char* fields :
             {"shape=5x4x64", "shape=5x4x40 alpha=0x21800000", "shape=5x4x3 alpha=0x53800000",
              "shape=5x4x3 alpha=0x35800000", "shape=5x4x2 alpha=0x49800000",
              "shape=5x4x130 output=bf16 beta=2 epilogue=bias", "shape=5x4x32 output=e4m3",
              "shape=4x5x40 epilogue=relu"})
            for (const char* data : {"gemm.exact-signs", "gemm.special", "gemm.small"})
                for (std::uint64_t seed = 0; seed < 24; ++seed) {
                    const auto c = parse_case(std::string("gemm ") + factors + " " + fields +
                                              " data=" + data + " index=" + std::to_string(seed));
                    if (!c || !check_combination(c.value()) || !check_gemm_data(c.value()))
                        continue;
                    ExtremeScales scales(seed * 977 + 1);
                    expect_alike(c.value(), scales.inputs(c.value()), counts);
                    if (testing::Test::HasFatalFailure()) return;
                }
    EXPECT_GT(counts.determined, 3000u);
    EXPECT_GT(counts.undetermined, 10000u);
}

// A term of a factor of 2^23 and two of 2^23 is no zero, though their digits overflow 64 bits.
TEST(GemmManyAtOnce, ScalesOfBinary32LeaveTheConditionsInForce) {
    const Case c =
        parse_case("gemm a=e4m3:tensor b=e4m3:tensor shape=1x1x2 data=gemm.zeros").value();
    std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    for (CodeTensor& tensor : inputs)
        for (std::size_t i = 0; i < tensor.count(); ++i)
            tensor.set(i, tensor.width == 4 ? 0x3F800000 : i == 0 ? 0x70 : 0x38);  // 2^7, 2^0
    const gemm::ProblemView problem = gemm_problem_of(c, inputs);
    const std::string why = undetermined_because(problem, problem.output({0, 0}));
    EXPECT_NE(why.find("multiples of 2^0, but are aligned to 2^14"), std::string::npos) << why;
}

}  // namespace
}  // namespace mx
