// When is a sum exact in any order? Both sides of every condition, and the models themselves: what
// is said to be determined, each of them must give.
#include <gtest/gtest.h>

#include "conformance/run/gemm_judge.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/gemm/bound.hpp"
#include "reference/gemm/exactness.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

constexpr std::uint32_t nan_code = 0x7F, infinity_code = 0x7C;

// 2^exponent in E4M3.
std::uint8_t power(int exponent) {
    return static_cast<std::uint8_t>(exponent >= -6 ? (exponent + 7) << 3 : 1 << (exponent + 9));
}

struct Products {
    std::vector<std::uint8_t> a, b;
    std::string fields = "a=e4m3 b=e4m3";
    std::string because() const {
        const auto c =
            parse_case("gemm shape=1x1x" + std::to_string(a.size()) + " data=gemm.zeros " + fields);
        EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
        const gemm::ProblemView problem = gemm_problem_of(c.value(), {});
        const auto row = [](const gemm::Factor& factor, const std::vector<std::uint8_t>& codes) {
            return ScaledRow{factor.element, {codes.data(), 1, 1}, formats::f32, {}, 0};
        };
        gemm::Output output{
            row(problem.a, a), row(problem.b, b), static_cast<std::int64_t>(a.size()), {}};
        output.operands.alpha = problem.alpha;
        return undetermined_because(problem, output);
    }
};

TEST(GemmExactness, ATermMayNotLieFurtherBelowTheLargestThanTheBitsThatAreKept) {
    EXPECT_EQ((Products{{power(7), power(0)}, {power(6), power(0)}}.because()), "");
    const std::string text = Products{{power(7), power(0)}, {power(7), power(0)}}.because();
    EXPECT_NE(text.find("multiples of 2^0, but are aligned to 2^14"), std::string::npos) << text;
    EXPECT_NE(text.find("keeps 13 bits"), std::string::npos) << text;
}

TEST(GemmExactness, MagnitudesSumToLessThanTheAccumulatorHolds) {
    Products products;
    const auto add = [&products](int a, int b) {
        products.a.push_back(power(a));
        products.b.push_back(power(b));
    };
    for (int i = 0; i < 3; ++i) add(6, 6);
    for (int i = 0; i < 12; ++i) add(i / 2, i - i / 2);
    EXPECT_EQ(products.because(), "") << "2^14 - 1";
    add(0, 0);
    const std::string text = products.because();
    EXPECT_NE(text.find("magnitudes sum to 2^14 or more"), std::string::npos) << text;
}

TEST(GemmExactness, AZeroCountsWithTheExponentFieldOfItsFactors) {
    EXPECT_EQ((Products{{power(-6), 0}, {power(-6), power(7)}}.because()), "");
    EXPECT_NE((Products{{power(-6), 0}, {power(-6), power(8)}}.because()).find("aligned to 2^2"),
              std::string::npos);
}

TEST(GemmExactness, BinarySixteenHoldsLessThanTheOthers) {
    Products products{{power(6), power(0)}, {power(6), power(0)}};
    EXPECT_EQ(products.because(), "");
    products.fields += " output=f16";
    EXPECT_NE(products.because().find("keeps 10 bits"), std::string::npos);
}

TEST(GemmExactness, SpecialsAreDeterminedWhereNothingMayChangeThem) {
    Products products{{nan_code, power(8), 1}, {power(0), power(8), 1}};
    EXPECT_EQ(products.because(), "");
    products.fields += " epilogue=relu";
    EXPECT_NE(products.because().find("ReLU"), std::string::npos);
    Products infinite{{infinity_code, power(8)}, {power(0), power(8)}, "a=e5m2 b=e4m3"};
    EXPECT_EQ(infinite.because(), "");
    infinite.fields += " output=e4m3";
    EXPECT_NE(infinite.because().find("saturate"), std::string::npos);
}

TEST(GemmExactness, AlphaMustOnlyMoveTheExponent) {
    Products products{{power(0)}, {power(0)}, "a=e4m3 b=e4m3 alpha=-4"};
    EXPECT_EQ(products.because(), "");
    products.fields = "a=e4m3 b=e4m3 alpha=1.5";
    EXPECT_EQ(products.because(), "alpha is no power of two");
    products.fields = "a=e4m3 b=e4m3 epilogue=gelu";
    EXPECT_NE(products.because().find("GELU"), std::string::npos);
    products = {{0x7E}, {0x7E}, "a=e4m3 b=e4m3 output=e4m3"};
    EXPECT_NE(products.because().find("beyond the range of D"), std::string::npos);
}

// A machine may multiply A by alpha first, whose range ends before B brings it back.
struct OneByOne {
    std::string fields;
    std::vector<std::uint16_t> a, b;

    std::string undetermined() const { return ask(gemm::undetermined_because); }
    std::string unbounded() const {
        return ask([](const gemm::ProblemView& problem, const gemm::Output& output) {
            return gemm::bound_of(problem, output).none_because;
        });
    }

private:
    template <typename Ask>
    std::string ask(const Ask& question) const {
        const std::string shape = "gemm a=bf16 b=bf16 shape=1x1x" + std::to_string(a.size());
        const Case c = parse_case(shape + " data=gemm.zeros " + fields).value();
        const gemm::ProblemView problem = gemm_problem_of(c, {});
        const auto row = [](const std::vector<std::uint16_t>& codes) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.data());
            return ScaledRow{formats::bf16, {bytes, 2, 1}, formats::e8m0, {}, 0};
        };
        gemm::Output output{row(a), row(b), static_cast<std::int64_t>(a.size()), {}};
        output.operands.alpha = problem.alpha;
        return question(problem, output);
    }
};

TEST(GemmExactness, ElementsOfATimesAlphaKeepToTheRangeToo) {
    constexpr std::uint16_t far_below = 0x3000, below = 0x0D80, above = 0x4980, far_above = 0x7680;
    constexpr std::uint16_t least_normal = 0x0E01;  // times 1.23 it has bits below 2^-126
    const std::string out = "elements of A times alpha are out of the range of binary32";
    const std::string halved = "alpha=0x03800000", raised = "alpha=0x7B800000";  // 2^-120, 2^120
    struct Product {
        std::string fields;
        std::uint16_t a, b;
        std::string why;
    };
    for (const auto& [fields, a, b, why] : {Product{halved, far_below, far_above, out},
                                            {halved, far_above, far_below, ""},
                                            {raised, above, below, out},
                                            {raised, below, above, ""}}) {
        EXPECT_EQ((OneByOne{fields, {a}, {b}}.undetermined()), why) << fields;
        EXPECT_EQ((OneByOne{fields, {a}, {b}}.unbounded()), why) << fields;
    }
    EXPECT_EQ((OneByOne{raised + " model=bounded:hopper-half", {above}, {below}}.unbounded()), "");
    EXPECT_EQ((OneByOne{"alpha=0x7fc00000", {above}, {below}}.undetermined()), "");
    EXPECT_EQ((OneByOne{"alpha=-1.23", {least_normal}, {0x3F80}}.unbounded()), "");
    // Sums of them: 2^100 * 2^10 * 2^20, and the same taken away.
    const OneByOne cancelling{"alpha=0x71800000", {0x4480, 0xC480}, {0x4980, 0x4980}};
    EXPECT_EQ(cancelling.unbounded(), "a partial sum may be beyond the range of binary32");
}

// Alpha may come last, and is too late for what is Inf or 0 by then.
TEST(GemmExactness, ProductsKeepToTheRangeWithoutAlphaToo) {
    constexpr std::uint8_t one = 127, large = 127 + 60, small = 127 - 60;  // E8M0
    const auto because = [](const std::string& alpha, std::uint8_t scale, std::uint8_t code) {
        const Case c =
            parse_case("gemm a=mxfp8-e5m2 b=mxfp8-e5m2 shape=1x1x1 data=gemm.zeros" + alpha)
                .value();
        const gemm::ProblemView problem = gemm_problem_of(c, {});
        const ScaledRow row{formats::e5m2, {&code, 1, 1}, formats::e8m0, {&scale, 1, 1}, 32};
        gemm::Output output{row, row, 1, {}};
        output.operands.alpha = problem.alpha;
        return undetermined_because(problem, output);
    };
    constexpr std::uint8_t largest_power = 0x78, least = 0x01;  // 2^15, 2^-16
    const std::string out = "products are out of the range of binary32 before alpha";
    EXPECT_EQ(because(" alpha=0x21800000", one, largest_power), "") << "2^30 * 2^-60";
    EXPECT_EQ(because(" alpha=0x21800000", large, largest_power), out) << "2^150 * 2^-60";
    EXPECT_EQ(because(" alpha=0x53800000", small, least), out) << "2^-152 * 2^40";
}

// What may round is the sum. E8M0 code 0 is a scale, and who flushes it is wrong; a product with it
// that is subnormal is left open.
TEST(GemmExactness, TheLowestScaleLeavesNothingOpenWhereItsProductsAreNormal) {
    static constexpr std::uint8_t lowest = 0, high = 127 + 100;          // E8M0
    static constexpr std::uint8_t one = 0x3C, two = 0x40, three = 0x42;  // E5M2
    const auto because = [](std::uint8_t element) {
        const Case c =
            parse_case("gemm a=mxfp8-e5m2 b=mxfp8-e5m2 shape=1x1x1 data=gemm.zeros").value();
        const auto row = [](const std::uint8_t& code, const std::uint8_t& scale) {
            return ScaledRow{formats::e5m2, {&code, 1, 1}, formats::e8m0, {&scale, 1, 1}, 32};
        };
        gemm::Output output{row(element, lowest), row(one, high), 1, {}};
        output.operands.alpha = Code{0x3F800000};
        return undetermined_because(gemm_problem_of(c, {}), output);
    };
    const std::string out = "elements with one of their scales are out of the range of binary32";
    EXPECT_EQ(because(two), "");
    EXPECT_EQ(because(one), out);
    EXPECT_EQ(because(three), out) << "it has a bit below 2^-126";
    EXPECT_EQ(because(0), "");
}

// Every row with E8M0 scales has 2^-127 as one of them.
TEST(GemmExactness, EveryModelTakesTheLowestScale) {
    std::size_t ran = 0;
    for (const GemmModel& model : gemm_models)
        for (const char* factors : {"a=mxfp8-e4m3 b=mxfp8-e5m2", "a=mxfp4-e2m1 b=mxfp4-e2m1"})
            for (const char* index : {"0", "1"}) {
                const std::string text = std::string("gemm ") + factors +
                                         " shape=16x8x160 data=gemm.lowest-scale index=" + index;
                Case named = parse_case(text).value();
                named.gemm.model = {&model, false};
                if (!check_combination(named)) continue;
                const results::CaseResult result = run(text, {.model = &model});
                EXPECT_EQ(result.verdict, results::Verdict::pass_exact)
                    << model.name << ": " << told(result);
                ++ran;
            }
    EXPECT_GE(ran, 12u);
}

// One scale and then the other: the second cannot bring back what the first pushed out of range.
TEST(GemmBound, ThereIsNoneWhereAProductWithOneScaleLeavesTheRange) {
    constexpr std::uint8_t lowest = 0, one = 127, highest = 254;  // E8M0
    const auto because = [](const std::string& row, std::uint8_t scale_a, std::uint8_t scale_b) {
        const std::vector<std::uint8_t> codes(32, power(4));
        const Case c = parse_case(
                           "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=1x1x32 data=gemm.middle "
                           "model=bounded" +
                           row)
                           .value();
        const auto scaled = [&codes](const std::uint8_t& scale) {
            return ScaledRow{
                formats::e4m3, {codes.data(), 1, 1}, formats::e8m0, {&scale, 1, 1}, 32};
        };
        gemm::Output output{scaled(scale_a), scaled(scale_b), 32, {}};
        output.operands.alpha = Code{0x3F800000};
        return bound_of(gemm_problem_of(c, {}), output).none_because;
    };
    const std::string out = "elements with one of their scales are out of the range of binary32";
    const std::string product = "a product of scales is out of the range of binary32";
    for (const std::string row : {"", ":hopper-mx-wgmma", ":hopper-mx-slices"}) {
        EXPECT_EQ(because(row, one, one), "") << row;
        EXPECT_EQ(because(row, highest, lowest), out) << row;
        EXPECT_EQ(because(row, lowest, highest), out) << row;
        // 2^64 * 2^64, and 2^-70 * 2^-80.
        EXPECT_EQ(because(row, 191, 191), product) << row;
        EXPECT_EQ(because(row, 57, 47), product) << row;
    }
    EXPECT_EQ(because(":blackwell-mx", highest, lowest), "") << "it moves exponents";
}

// Every row that takes a case, and the same with zeros counted, in every type of D.
TEST(GemmExactness, EveryModelGivesWhatIsDetermined) {
    std::size_t ran = 0;
    for (const char* factors :
         {"a=mxfp8-e4m3 b=mxfp8-e5m2", "a=mxfp4-e2m1 b=mxfp4-e2m1", "a=nvfp4 b=nvfp4",
          "a=e4m3:tensor b=e5m2:tensor", "a=e4m3:1x128 b=e4m3:1x128", "a=bf16 b=bf16",
          "a=f16 b=f16", "a=f32 b=f32", "a=e4m3:1x128 b=e4m3:128x128"})
        for (const char* fields : {"shape=16x8x320", "shape=8x12x544 output=f16 beta=0.5",
                                   "shape=8x12x160 output=bf16 alpha=-2 epilogue=bias"})
            for (const GemmFamily& family : gemm_data_families()) {
                if (family.name.find("exact") == std::string_view::npos &&
                    family.name != "gemm.one-hot" && family.name != "gemm.counting")
                    continue;
                const Case c = parse_case(std::string("gemm ") + factors + " " + fields +
                                          " data=" + std::string(family.name))
                                   .value();
                for (const GemmModel& row : gemm_models) {
                    Case named = c;
                    named.gemm.model = {&row, false};
                    const bool ends_in_half = row.accumulator.exponent_bits < 8;
                    if (!check_combination(named) ||
                        (ends_in_half && c.gemm.output.element != formats::f16))
                        continue;
                    for (const ZeroProducts zeros :
                         {ZeroProducts::left_out, ZeroProducts::counted}) {
                        GemmModel model = row;
                        model.zero_products = zeros;
                        const GemmSubject subject{.model = &model};
                        Sources sources;
                        Runner runner(Client{.ask =
                                                 [&](const Question& question) {
                                                     return subject.answer(question);
                                                 }},
                                      sources, {});
                        const auto result = runner.run({"test", c});
                        ASSERT_TRUE(result.ok());
                        EXPECT_EQ(result.value().verdict, results::Verdict::pass_exact)
                            << result.value().case_text << " by " << row.name << ": "
                            << result.value().reason
                            << (result.value().mismatches.empty()
                                    ? ""
                                    : result.value().mismatches[0].note);
                        ++ran;
                    }
                }
            }
    EXPECT_GT(ran, 500u);
}

}  // namespace
}  // namespace mx
