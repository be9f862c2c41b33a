// model=bounded and bounded:ROW: no machine that the table knows is accused, whatever the data.
#include <gtest/gtest.h>

#include "conformance/data/gemm_inputs.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

// Factors that some row multiplies, and what may come after the sum.
constexpr const char* factors[] = {
    "a=mxfp8-e4m3 b=mxfp8-e5m2",
    "a=mxfp6-e3m2 b=mxfp6-e2m3",
    "a=mxfp4-e2m1 b=mxfp4-e2m1",
    "a=nvfp4 b=nvfp4",
    "a=e4m3:tensor b=e4m3:tensor",
    "a=e5m2:row b=e4m3:row",
    "a=e4m3:1x128 b=e4m3:1x128",
    "a=e4m3:1x128 b=e4m3:128x128",
    "a=e5m2 b=e5m2",
    "a=bf16 b=bf16",
    "a=f16 b=f16",
    "a=f32 b=f32",
    "a=tf32 b=tf32",
    "a=e4m3fnuz b=e5m2fnuz",
};
constexpr const char* fields[] = {
    "shape=6x5x64 output=f32",
    "shape=5x6x160 output=f16",
    "shape=5x6x160 output=bf16 alpha=-1.23 beta=0.77",
    "shape=3x4x544 output=f16 alpha=0.001 beta=2 epilogue=bias-relu",
};

struct Counts {
    std::size_t cases = 0, passes = 0, half = 0;
};

// Both kinds of bound on one row as a device.
void expect_no_blame(const GemmModel& row, const std::string& text, Counts& counts) {
    for (const bool is_named : {false, true}) {
        const std::string asked =
            text + " model=bounded" + (is_named ? ":" + std::string(row.name) : "");
        const auto c = parse_case(asked);
        if (!c || !check_combination(c.value()) || !check_gemm_data(c.value())) continue;
        const bool ends_in_half = row.accumulator.exponent_bits < 8;
        if (ends_in_half && c.value().gemm.output.element != formats::f16) continue;
        const CaseResult result = run(asked, {.model = &row});
        EXPECT_TRUE(result.mismatches.empty()) << row.name << ": " << told(result);
        ++counts.cases;
        counts.passes += result.verdict == Verdict::pass_bounded ? 1 : 0;
        counts.half += ends_in_half && result.verdict == Verdict::pass_bounded ? 1 : 0;
    }
}

TEST(GemmBound, NoRowOfTheTableIsAccusedOnAnyData) {
    Counts counts;
    for (const GemmModel& row : gemm_models)
        for (const char* pair : factors)
            for (const char* more : fields) {
                const std::string text = std::string("gemm ") + pair + " " + more;
                auto named = parse_case(text + " data=gemm.zeros model=" + std::string(row.name));
                if (!named || !check_combination(named.value())) continue;
                for (const GemmFamily& family : gemm_data_families())
                    expect_no_blame(row, text + " data=" + std::string(family.name), counts);
            }
    EXPECT_GT(counts.cases, 3000u);
    EXPECT_GT(counts.passes, 1000u);
    EXPECT_GT(counts.half, 20u);
    RecordProperty("cases", static_cast<int>(counts.cases));
    std::printf("%zu cases, %zu of them pass, %zu with a binary16 accumulator\n", counts.cases,
                counts.passes, counts.half);
}

// What a device may do grossly wrong along K.
struct Fault {
    const char* what;
    GemmSubject subject;
};

void drop(Matrix& codes, std::size_t first, std::size_t end) {
    for (auto& row : codes) std::fill(row.data() + first, row.data() + end, 0u);
}

// One product at a time, each sum rounded to bfloat16.
GemmModel bf16_accumulator(BlockScaling scaling) {
    GemmModel model = *find_gemm_model("blackwell-mx");
    model.products = 1;
    model.fraction_bits = 30;
    model.accumulator = formats::bf16;
    model.rounding = Rounding::nearest_even;
    model.scaling = scaling;
    return model;
}

std::vector<Fault> faults_of(const GemmModel& right, const GemmModel& short_sum) {
    const GemmModel* model = &right;
    return {
        {"half of K is missing",
         {.model = model,
          .spoil = [](PlainGemm& g) { drop(g.a, g.a[0].size() / 2, g.a[0].size()); }}},
        {"one k is dropped",
         {.model = model,
          .spoil = [](PlainGemm& g) { drop(g.a, g.a[0].size() / 3, g.a[0].size() / 3 + 1); }}},
        {"a block has twice its scale",
         {.model = model,
          .spoil =
              [](PlainGemm& g) {
                  if (g.asked.scaling_a != "1x32" && g.asked.scaling_a != "1x16") return;
                  const std::uint32_t twice = g.asked.scaling_a == "1x32" ? 1 : 8;
                  for (auto& row : g.scales_a) row[1] += twice;
              }}},
        {"sums are rounded to bfloat16", {.model = &short_sum}},
        {"six bits of mantissa",
         {.model = model,
          .spoil_result =
              [](const PlainGemm&, Matrix& d) {
                  for (auto& row : d)
                      for (std::uint32_t& code : row) code &= ~((1u << 17) - 1);
              }}},
    };
}

// Factors, and a row that stands for a device that is right but for the fault.
struct Kind {
    const char* factors;
    const char* row;
};

std::string bounded_case(const Kind& kind, int depth, const std::string& data) {
    return std::string("gemm ") + kind.factors + " shape=16x8x" + std::to_string(depth) +
           " model=bounded data=" + data;
}

// Only rows that scale blocks may be what multiplies factors with scales of blocks: of MXFP8 the
// 13 bits of Hopper last for 32 products, and not for all of K.
TEST(GemmBound, OfScaledBlocksShowsWhatIsGross) {
    for (const Kind& kind : {Kind{"a=mxfp8-e4m3 b=mxfp8-e4m3", "blackwell-mx"},
                             Kind{"a=mxfp8-e4m3 b=mxfp8-e4m3", "hopper-mx-slices"},
                             Kind{"a=nvfp4 b=nvfp4", "fma-chain-mx"}}) {
        const GemmModel& right = *find_gemm_model(kind.row);
        GemmModel rounded = bf16_accumulator(BlockScaling::product_exponent);
        for (const int depth : {64, 256, 1024, 4096})
            for (const char* data : {"gemm.middle", "gemm.positive"}) {
                const std::string text = bounded_case(kind, depth, data);
                const CaseResult as_is = run(text, {.model = &right});
                EXPECT_EQ(as_is.verdict, Verdict::pass_bounded) << kind.row << " " << told(as_is);
                for (const Fault& fault : faults_of(right, rounded)) {
                    const CaseResult result = run(text, fault.subject);
                    EXPECT_EQ(result.verdict, Verdict::fail) << fault.what << " " << told(result);
                }
            }
    }
}

// K of every large model, with the weakest of all accumulators.
TEST(GemmBound, OfScaledBlocksJudgesLongSums) {
    for (const char* row : {"blackwell-mx", "hopper-mx-wgmma", "fma-chain-mx"})
        for (const int depth : {4096, 8192, 16384})
            for (const char* data : {"gemm.middle", "gemm.uniform", "gemm.zeros"}) {
                const CaseResult result =
                    run(bounded_case({"a=mxfp8-e4m3 b=mxfp8-e4m3", row}, depth, data),
                        {.model = find_gemm_model(row)});
                EXPECT_EQ(result.verdict, Verdict::pass_bounded) << row << " " << told(result);
            }
}

// Where a bound alone hides what is gross, as that of 13 bits of FP8 does, the probes show it; and
// what is right is judged.
TEST(GemmBound, ProbesAlongKShowWhatABoundHides) {
    std::size_t caught = 0;
    for (const Kind& kind :
         {Kind{"a=e4m3:tensor b=e4m3:tensor", "hopper-fp8"},
          Kind{"a=e4m3:tensor b=e5m2:tensor", "ada-fp8"},
          Kind{"a=mxfp8-e4m3 b=mxfp8-e4m3", "hopper-mx-wgmma"},
          Kind{"a=nvfp4 b=nvfp4", "blackwell-fp4"}, Kind{"a=bf16 b=bf16", "hopper-half"}}) {
        const GemmModel& right = *find_gemm_model(kind.row);
        const GemmModel rounded =
            bf16_accumulator(right.scaling == BlockScaling::none ? BlockScaling::none
                                                                 : BlockScaling::product_exponent);
        for (const int depth : {64, 1024, 4096, 16384}) {
            const std::string text = bounded_case(kind, depth, "gemm.middle");
            const CaseResult as_is = run(text, {.model = &right});
            EXPECT_EQ(as_is.verdict, Verdict::pass_bounded) << kind.row << " " << told(as_is);
            for (const Fault& fault : faults_of(right, rounded)) {
                const bool is_of_blocks =
                    std::string(fault.what).find("block") != std::string::npos;
                if (is_of_blocks && right.scaling == BlockScaling::none) continue;
                const CaseResult result = run(text, fault.subject);
                EXPECT_EQ(result.verdict, Verdict::fail) << fault.what << " " << told(result);
                caught += result.verdict == Verdict::fail ? 1 : 0;
            }
        }
    }
    std::printf("%zu planted faults caught\n", caught);
}

// Every k is in some product of the probes, as far as the rows of D reach.
TEST(GemmBound, ProbesHaveAProductAtEveryK) {
    for (const char* factors : {"a=e4m3:tensor b=e4m3:tensor", "a=mxfp8-e4m3 b=mxfp8-e4m3"})
        for (const int dropped : {0, 1, 31, 777, 2048, 4094, 4095}) {
            GemmSubject subject{.model = nullptr};
            subject.spoil = [dropped](PlainGemm& g) {
                drop(g.a, static_cast<std::size_t>(dropped), static_cast<std::size_t>(dropped) + 1);
            };
            const CaseResult result =
                run(bounded_case({factors, ""}, 4096, "gemm.middle"), subject);
            EXPECT_EQ(result.verdict, Verdict::fail) << dropped << " " << told(result);
        }
}

}  // namespace
}  // namespace mx
