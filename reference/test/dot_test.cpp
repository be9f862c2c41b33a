// Dot products: exact sums worked by hand, and what each model makes of the probes that tell
// machines apart. The numbers are typed from the definition of the probes, not computed.
#include <gtest/gtest.h>

#include "reference/exact/dot.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/fast/dot.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using Codes = std::vector<std::uint32_t>;

constexpr std::uint32_t f32_zero = 0;

// A zero has no leading one to look for; Clang refuses a constant that looks, g++ only under the
// sanitizers.
static_assert(fast::flushed(formats::f32, {}).significand == 0);

// E4M3 codes by value.
constexpr std::uint32_t one = 0x38, two = 0x40, least = 0x01, largest = 0x7E;
constexpr std::uint32_t p128 = 0x70;       // 2^7
constexpr std::uint32_t sixteenth = 0x18;  // 2^-4
constexpr std::uint32_t minus = 0x80;

constexpr std::uint32_t power_f32(int exponent) {
    return static_cast<std::uint32_t>(exponent + 127) << 23;
}

// What both engines say, which must be one thing.
std::uint32_t model_says(std::string_view name, const CodeRow& a, const CodeRow& b,
                         std::uint32_t c = f32_zero) {
    const GemmModel& model = *find_gemm_model(name);
    const Code by_exact = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                       exact::accumulate(model, a.row(), b.row(), a.depth(),
                                                         exact::decode(formats::f32, Code{c})));
    const Code by_fast = fast::round(
        formats::f32, Rounding::nearest_even, Overflow::overflow,
        fast::accumulate(model, a.row(), b.row(), a.depth(), fast::unpack(formats::f32, Code{c})));
    EXPECT_EQ(by_exact.bits, by_fast.bits) << name;
    return by_exact.bits;
}

std::uint32_t exact_says(const CodeRow& a, const CodeRow& b) {
    const Code by_exact = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                       exact::dot(a.row(), b.row(), a.depth()));
    const Code by_fast = fast::round_total(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                           fast::dot(a.row(), b.row(), a.depth()));
    EXPECT_EQ(by_exact.bits, by_fast.bits);
    return by_exact.bits;
}

CodeRow e4m3(Codes codes) {
    return {formats::e4m3, std::move(codes)};
}

CodeRow mx_e4m3(Codes codes, Codes scales) {
    return {formats::e4m3, std::move(codes), formats::e8m0, std::move(scales), 32};
}

TEST(Dot, IsExactOverFiveHundredBinades) {
    // 448 * 448 * 2^127 * 2^127 is beyond binary32, and its opposite takes it away again; what is
    // left is 2^-9 * 2^-9 * 2^-127.
    Codes a(96, 0), b(96, 0);
    a[0] = largest, b[0] = largest, a[32] = largest, b[32] = largest | minus;
    a[64] = least, b[64] = least;
    EXPECT_EQ(exact_says(mx_e4m3(a, {254, 254, 127}), mx_e4m3(b, {254, 254, 0})), 1u << 4);
    EXPECT_EQ(exact_says(mx_e4m3({largest}, {254}), mx_e4m3({largest}, {254})), 0x7F800000u);
}

TEST(Dot, NanScalePoisonsEvenZeros) {
    EXPECT_EQ(exact_says(mx_e4m3({0}, {255}), mx_e4m3({0}, {127})), 0x7FFFFFFFu);
}

TEST(Dot, ZeroSumsArePositive) {
    EXPECT_EQ(exact_says(e4m3({minus}), e4m3({one})), 0u);
    EXPECT_EQ(exact_says(e4m3({one, one}), e4m3({one, one | minus})), 0u);
    EXPECT_EQ(exact_says(e4m3({}), e4m3({})), 0u);
}

// P1: a pair that cancels sets the exponent; the third product survives 13 places below it, or 25.
TEST(DotModel, KeepsSoManyFractionBits) {
    const CodeRow a = e4m3({p128, p128 | minus, two}), b = e4m3({p128, p128, one});
    const CodeRow below = e4m3({p128, p128 | minus, one});
    EXPECT_EQ(model_says("hopper-fp8", a, b), power_f32(1));
    EXPECT_EQ(model_says("hopper-fp8", below, b), 0u);
    EXPECT_EQ(model_says("blackwell-narrow", below, b), power_f32(0));
    const CodeRow smallest = e4m3({p128, p128 | minus, 0x04});  // 2^-7
    EXPECT_EQ(model_says("blackwell-narrow", smallest, e4m3({p128, p128, sixteenth})),
              power_f32(-11));
    EXPECT_EQ(model_says("blackwell-narrow", smallest, e4m3({p128, p128, sixteenth - 8})), 0u);
}

// P2: toward zero on both sides.
TEST(DotModel, CutsTowardZero) {
    const CodeRow b = e4m3({p128, p128, one});
    for (const std::uint32_t sign : {0u, minus})
        EXPECT_EQ(model_says("hopper-fp8", e4m3({p128, p128 | minus, 0x3C | sign}), b), 0u);
}

// P3: an accumulator of 13 mantissa bits.
TEST(DotModel, NarrowAccumulatorCutsC) {
    const CodeRow zero = e4m3({0});
    EXPECT_EQ(model_says("hopper-fp8", zero, zero, 0x3F800000 + (1 << 10)),
              0x3F800000u + (1 << 10));
    EXPECT_EQ(model_says("hopper-fp8", zero, zero, 0x3F800000 + (1 << 9)), 0x3F800000u);
    EXPECT_EQ(model_says("hopper-fp8", zero, zero, 0xBF800000 + (1 << 9)), 0xBF800000u);
    EXPECT_EQ(model_says("blackwell-narrow", zero, zero, 0x3F800001), 0x3F800001u);
    EXPECT_EQ(model_says("hopper-fp8-promoted", zero, zero, 0x3F800001), 0x3F800001u);
    EXPECT_EQ(model_says("mma-sync-fp8", zero, zero, 0x3F800001), 0x3F800001u);
}

// P6: the exponents of the factors, not of their product.
TEST(DotModel, AlignsProductsBeforeTheyAreNormalised) {
    // 96 * 192 = 2.25 * 2^13
    const CodeRow a = e4m3({0x6C, 0x6C | minus, one}), b = e4m3({0x74, 0x74, one});
    EXPECT_EQ(model_says("hopper-fp8", a, b), power_f32(0));
    // 128 * 128 = 2^14
    EXPECT_EQ(model_says("hopper-fp8", e4m3({p128, p128 | minus, one}), e4m3({p128, p128, one})),
              0u);
}

// P7: seen on a GH200: 2^-8 again and again stops at 64.
TEST(DotModel, StagnatesWithoutPromotion) {
    const CodeRow row = e4m3(Codes(32768, sixteenth));
    EXPECT_EQ(model_says("hopper-fp8", row, row), power_f32(6));
    EXPECT_EQ(model_says("hopper-fp8-promoted", row, row), power_f32(7));
    EXPECT_EQ(model_says("fma-chain", row, row), power_f32(7));
}

// P8: the exponent field of 448 beside a zero says nothing.
TEST(DotModel, ZeroProductsHaveNoExponent) {
    EXPECT_EQ(model_says("hopper-fp8", e4m3({0}), e4m3({largest}), power_f32(-12)), power_f32(-12));
    GemmModel counting = *find_gemm_model("hopper-fp8");
    counting.zero_products = ZeroProducts::counted;
    const CodeRow a = e4m3({0}), b = e4m3({largest});
    const auto c = fast::unpack(formats::f32, Code{power_f32(-12)});
    EXPECT_EQ(fast::accumulate(counting, a.row(), b.row(), 1, c).significand, 0u);
    EXPECT_TRUE(exact::accumulate(counting, a.row(), b.row(), 1,
                                  exact::decode(formats::f32, Code{power_f32(-12)}))
                    .magnitude == 0);
}

// P9: a subnormal has the exponent of the smallest normal number, -6.
TEST(DotModel, SubnormalsKeepTheLeastExponent) {
    const CodeRow a = e4m3({least}), b = e4m3({one});
    EXPECT_EQ(model_says("hopper-fp8", a, b, power_f32(-20)), power_f32(-9));
    EXPECT_EQ(model_says("hopper-fp8", a, b, power_f32(-19)), power_f32(-9) + (1u << 13));
    EXPECT_EQ(model_says("mma-sync-fp8", a, b, power_f32(-20)), power_f32(-9) + (1u << 12));
}

// P5: what is small is lost in the whole step that holds the large pair, and in no other.
TEST(DotModel, StepsAreSoLong) {
    Codes a(32, least), b(32, one);
    a[0] = p128, b[0] = p128, a[31] = p128 | minus, b[31] = p128;
    EXPECT_EQ(model_says("hopper-fp8", e4m3(a), e4m3(b)), 0u);
    std::swap(a[31], a[15]);
    std::swap(b[31], b[15]);
    EXPECT_EQ(model_says("hopper-fp8", e4m3(a), e4m3(b)), 0u);
    EXPECT_EQ(model_says("ada-fp8", e4m3(a), e4m3(b)), power_f32(-5));  // sixteen times 2^-9
}

TEST(DotModel, MmaSyncTakesTwoOfEveryFour) {
    // k = 0 and 5 are in the first step of 16, 2 in the second: only there the small one is lost.
    Codes a(32, 0), b(32, one);
    a[0] = p128, b[0] = p128, a[5] = p128 | minus, b[5] = p128;
    a[4] = least, b[4] = 0x08;  // 2^-9 * 2^-6
    EXPECT_EQ(model_says("mma-sync-fp8", e4m3(a), e4m3(b)), 0u);
    std::swap(a[4], a[2]);
    std::swap(b[4], b[2]);
    EXPECT_EQ(model_says("mma-sync-fp8", e4m3(a), e4m3(b)), power_f32(-15));
}

TEST(DotModel, SpecialValues) {
    const CodeRow inf{formats::e5m2, {0x7C}}, zero{formats::e5m2, {0}}, unit{formats::e5m2, {0x3C}};
    const CodeRow nan{formats::e5m2, {0x7D}};
    EXPECT_EQ(model_says("hopper-fp8", inf, unit), 0x7F800000u);
    EXPECT_EQ(model_says("hopper-fp8", inf, zero), 0x7FFFFFFFu);
    EXPECT_EQ(model_says("hopper-fp8", nan, zero), 0x7FFFFFFFu);
    EXPECT_EQ(model_says("hopper-fp8", inf, unit, 0xFF800000), 0x7FFFFFFFu);
    EXPECT_EQ(model_says("hopper-fp8", unit, zero, 0x80000000), 0u);
}

// BF16 codes of powers of two.
std::uint32_t power_bf16(int exponent) {
    return static_cast<std::uint32_t>(exponent + 127) << 7;
}
constexpr std::uint32_t minus_bf16 = 0x8000;

CodeRow bf16(Codes codes) {
    return {formats::bf16, std::move(codes)};
}

CodeRow ones(const CodeRow& like, std::uint32_t code_of_one) {
    return {like.element, Codes(like.codes.size(), code_of_one)};
}

std::uint32_t sum_by(std::string_view name, const CodeRow& row, std::uint32_t c = f32_zero) {
    return model_says(name, row, ones(row, power_bf16(0)), c);
}

// CDNA1 rounds the exact sum of two products and C: 2^-24 beside 1 is a tie, which 2^-60 lifts.
// CDNA2 rounds 2^-24 + 2^-60 to 2^-24 first, and 1 + 2^-24 to 1.
TEST(DotModel, AmdSumsAStepExactlyOrInPairs) {
    const CodeRow small = bf16({power_bf16(-24), power_bf16(-60)});
    EXPECT_EQ(sum_by("cdna1-bf16", small, 0x3F800000), 0x3F800001u);
    EXPECT_EQ(sum_by("cdna2-bf16-pairs", small, 0x3F800000), 0x3F800000u);
    // Pairs of pairs: (1 + 2^-24) + (-1 + 2^-24) is 0 + (-1 + 2^-24), which binary32 has.
    const CodeRow four =
        bf16({power_bf16(0), power_bf16(-24), power_bf16(0) | minus_bf16, power_bf16(-24)});
    EXPECT_EQ(sum_by("cdna2-half", four), power_f32(-24));
    EXPECT_EQ(sum_by("cdna1-bf16", four), power_f32(-24));
}

// An H200's wgmma with an accumulator of binary16: -2^-26 is less than half its smallest number.
TEST(DotModel, WhatRoundsToZeroInBinary16IsPositive) {
    const CodeRow minus{formats::f16, {0x8800}}, plus{formats::f16, {0x0800}};
    for (const char* name : {"hopper-f16-f16", "ampere-f16-f16", "volta-f16-f16"}) {
        EXPECT_EQ(model_says(name, minus, plus), 0u) << name;
        EXPECT_EQ(model_says(name, minus, plus, 0x80000000), 0u) << name;
    }
}

// K is a tile and one product, which comes first in a step of its own. So 2^30 and -2^30 at the
// border of two steps meet in one, and the 1 behind them is not beside them.
TEST(DotModel, WhatKLeavesOverOfTilesComesFirst) {
    const auto sum_at = [](std::string_view name, std::size_t depth, std::size_t large) {
        Codes codes(depth, 0);
        codes[large] = power_bf16(30);
        codes[large + 1] = power_bf16(30) | minus_bf16;
        codes[large + 2] = power_bf16(0);
        return sum_by(name, bf16(codes));
    };
    const std::uint32_t unit = power_f32(0);
    EXPECT_EQ(sum_at("hopper-half-k8-residue-32", 17, 7), 0u);
    EXPECT_EQ(sum_at("hopper-half-k8-residue-32", 32, 7), 0u);
    EXPECT_EQ(sum_at("hopper-half-k8-residue-32", 33, 7), unit);
    EXPECT_EQ(sum_at("hopper-half-residue-64", 33, 15), 0u);
    EXPECT_EQ(sum_at("hopper-half-residue-64", 65, 15), unit);
    EXPECT_EQ(sum_at("hopper-half-residue-128", 65, 15), 0u);
    EXPECT_EQ(sum_at("hopper-half-residue-128", 129, 15), unit);
    EXPECT_EQ(sum_at("hopper-half", 65, 15), 0u);
}

// 2^24 takes what is half a unit of it or less away from its own sum alone. Sums of 16 take turns,
// and a stretch of 256 begins new ones.
TEST(DotModel, SumsBesideEachOtherTakeTurns) {
    const auto sum_at = [](std::size_t k) {
        Codes codes(k + 1);
        codes[0] = power_bf16(12);
        codes[k] = power_bf16(0);
        const CodeRow row = bf16(codes);
        return model_says("hopper-lanes-16", row, row);
    };
    const auto far_sum = [](std::size_t first, std::size_t second) {
        Codes left(second + 1), right(second + 1);
        left[0] = right[0] = power_bf16(12);
        for (const std::size_t k : {first, second}) left[k] = right[k] = power_bf16(0);
        return model_says("hopper-lanes-16", bf16(left), bf16(right));
    };
    const std::uint32_t large = power_f32(24);
    EXPECT_EQ(sum_at(1), large);           // in the end it joins 2^24 all the same
    EXPECT_EQ(far_sum(1, 2), large);       // and so does each of these
    EXPECT_EQ(far_sum(16, 32), large);     // both are added to 2^24
    EXPECT_EQ(far_sum(1, 17), large + 1);  // these to each other first
    EXPECT_EQ(far_sum(256, 272), large + 1);
    EXPECT_EQ(far_sum(240, 256), large);  // two stretches
}

// The probes that the rows name for what is open of them.
TEST(DotModel, ProbesOfTheExponentFloorShowIt) {
    const auto factors_to = [](int last) {
        Codes b;
        for (int exponent = -150; exponent >= last; --exponent)
            b.push_back(power_bf16(exponent + 75));
        b.push_back(b.back());
        return b;
    };
    const auto sum_with = [](std::string_view name, int floor, const Codes& b) {
        const Codes a(b.size(), power_bf16(-75));
        GemmModel model = *find_gemm_model(name);
        model.exponent_floor = floor;
        const CodeRow left = bf16(a), right = bf16(b);
        return fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                           fast::accumulate(model, left.row(), right.row(), left.depth(), {}))
            .bits;
    };
    EXPECT_EQ(sum_with("hopper-half", -all_bits, factors_to(-159)), 1u);
    EXPECT_EQ(sum_with("hopper-half", -133, factors_to(-159)), 0u);
    EXPECT_EQ(sum_with("hopper-half", -133, factors_to(-158)), 1u);
    EXPECT_EQ(sum_with("hopper-half", -126, factors_to(-158)), 0u);
    const Codes few{power_bf16(-75) + 0x60, power_bf16(-78) + 0x60, power_bf16(-81) + 0x40,
                    power_bf16(-82)};
    EXPECT_EQ(sum_with("ampere-half", -all_bits, few), 1u);
    EXPECT_EQ(sum_with("ampere-half", -132, few), 0u);
}

TEST(DotModel, Cdna3CutsTheSumOfProductsBesideTheAccumulator) {
    // 1 - 2^-8 + 2^-25 + 2^-32: without the last it is a tie, which goes to the even 1 - 2^-8.
    const CodeRow row = bf16({power_bf16(-8) | minus_bf16, power_bf16(-25), power_bf16(-32)});
    EXPECT_EQ(sum_by("cdna3-half", row, 0x3F800000), 0x3F7F0000u);
}

TEST(DotModel, Cdna2FlushesSubnormals) {
    EXPECT_EQ(sum_by("cdna2-half", bf16({0x0001})), 0u);         // a factor
    EXPECT_EQ(sum_by("cdna1-bf16", bf16({0x0001})), 1u << 16);   // 2^-133
    EXPECT_EQ(sum_by("cdna2-half", bf16({0}), 0x807FFFFF), 0u);  // C, to +0
    const CodeRow least = bf16({power_bf16(-126) | minus_bf16});
    const CodeRow half = bf16({power_bf16(-1)});
    EXPECT_EQ(model_says("cdna2-half", least, half), 0u);  // a product; -0 + 0 is +0
    // A sum: 1.5 * 2^-126 - 2^-126.
    EXPECT_EQ(sum_by("cdna2-half", bf16({0x00C0, 0x8080})), 0u);
    EXPECT_EQ(sum_by("cdna1-bf16", bf16({0x00C0, 0x8080})), 0x00400000u);
}

// The products are cut 24 places below the largest, C joins them afterwards and is cut 24 below
// the larger of both, down: -2^-25 becomes -2^-24, unless FP8 is multiplied, where C is too far.
TEST(DotModel, Cdna3AddsItsAccumulatorLast) {
    EXPECT_EQ(sum_by("cdna3-half", bf16({power_bf16(0), power_bf16(-24)})), 0x3F800000u);
    EXPECT_EQ(sum_by("cdna3-half", bf16({power_bf16(0)}), power_f32(-25) | 0x80000000u),
              0x3F7FFFFFu);  // 1 - 2^-24
    const CodeRow one_fnuz{formats::e4m3fnuz, {0x40}};
    EXPECT_EQ(model_says("cdna3-fp8", one_fnuz, one_fnuz, power_f32(-25) | 0x80000000u),
              0x3F7FFFFFu);
    EXPECT_EQ(model_says("cdna3-fp8", one_fnuz, one_fnuz, power_f32(-26) | 0x80000000u),
              0x3F800000u);
    // 2^-33 of the products beside C = 1: below the 31 bits, and so is 2^-32 - 2^-33.
    EXPECT_EQ(sum_by("cdna3-half", bf16({power_bf16(-33)}), 0x3F800000), 0x3F800000u);
    EXPECT_EQ(sum_by("cdna3-half", bf16({power_bf16(-24), power_bf16(-33)}), 0x3F800000),
              0x3F800000u);  // the tie
    EXPECT_EQ(sum_by("cdna3-half", bf16({power_bf16(-24), power_bf16(-31)}), 0x3F800000),
              0x3F800001u);
    EXPECT_EQ(sum_by("cdna3-half", bf16({0x7F00, 0}), f32_zero), 0x7F000000u);
    EXPECT_EQ(model_says("cdna3-half", bf16({0x7F00, 0xFF00}), bf16({0x4000, 0x4000})),
              0x7FFFFFFFu);  // Inf - Inf: products of 2^128
}

// 128 * 128 beside 2^-11 * 1: lost in the sum of even k, kept in that of odd k and lost then, for
// the larger exponent holds for both; but the exponents of their own sums are what cuts first.
TEST(DotModel, Cdna3SumsEvenAndOddApart) {
    // FNUZ: 0x78 is 2^7, 0x40 is 1, 0x01 is 2^-10, 0x20 is 2^-4.
    const auto row = [](Codes codes) { return CodeRow{formats::e4m3fnuz, std::move(codes)}; };
    // Even k: 2^14 - 2^14. Odd k: 2^-11 - nothing is lost before the sums are joined, where 2^-11
    // is below 2^(14 - 24); down means that a positive rest is lost and a negative one grows.
    EXPECT_EQ(model_says("cdna3-fp8", row({0x78, 0x01, 0xF8, 0}), row({0x78, 0x38, 0x78, 0})), 0u);
    EXPECT_EQ(model_says("cdna3-fp8", row({0x78, 0x81, 0xF8, 0}), row({0x78, 0x38, 0x78, 0})),
              power_f32(-10) | 0x80000000u);
    // The same in one sum is cut toward zero.
    EXPECT_EQ(model_says("cdna3-fp8", row({0x78, 0, 0xF8, 0, 0x81}), row({0x78, 0, 0x78, 0, 0x38})),
              0u);
}

CodeRow e5m2(Codes codes) {
    return {formats::e5m2, std::move(codes)};
}
constexpr std::uint32_t one_e5m2 = 0x3C, minus_e5m2 = 0x80, minus_zero = 0x80000000;

// 2^24 + 1 is a tie and goes to 2^24: of a pair the second product comes first.
TEST(DotModel, PairsOfProcessorsBeginWithTheSecond) {
    const CodeRow pair = bf16({power_bf16(24) | minus_bf16, power_bf16(0)});
    EXPECT_EQ(sum_by("vdpbf16ps", pair, power_f32(24)), 0u);
    EXPECT_EQ(sum_by("fma-chain", pair, power_f32(24)), power_f32(0));
}

TEST(DotModel, ProcessorsFlushWhatIsSubnormalAfterItsRounding) {
    EXPECT_EQ(sum_by("vdpbf16ps", bf16({0x0001})), 0u);         // a factor
    EXPECT_EQ(sum_by("vdpbf16ps", bf16({0}), 0x807FFFFF), 0u);  // C; -0 + 0 is +0
    EXPECT_EQ(sum_by("vdpbf16ps", bf16({minus_bf16, minus_bf16}), 0x807FFFFF), minus_zero);
    // 2^-126 less 2^-150 is subnormal; less 2^-151 it is a tie, which is rounded to 2^-126.
    const CodeRow minus = bf16({power_bf16(-75) | minus_bf16});
    const CodeRow below = bf16({power_bf16(-75)}), half = bf16({power_bf16(-76)});
    EXPECT_EQ(model_says("vdpbf16ps", minus, below, power_f32(-126)), 0u);
    EXPECT_EQ(model_says("vdpbf16ps", minus, half, power_f32(-126)), power_f32(-126));
    // 3 * 2^-126 - 2^-125 is normal.
    const CodeRow lanes = bf16({0x0140, 0x0100 | minus_bf16});
    EXPECT_EQ(sum_by("amx-half", lanes), power_f32(-126));
}

// Of 16 bits even and odd k have a sum each; of 8 bits the first and the second two of four.
TEST(DotModel, TilesOfAmxHaveTwoSums) {
    const std::uint32_t large = power_bf16(24), one_bf16 = power_bf16(0);
    EXPECT_EQ(sum_by("amx-half", bf16({large, one_bf16, large | minus_bf16, one_bf16})),
              power_f32(1));
    // 2^12 * 2^12, 1, the same taken away, and 1: (2^24 + 1) + (-2^24 + 1), each rounded.
    const CodeRow a = e5m2({0x6C, one_e5m2, 0x6C | minus_e5m2, one_e5m2});
    const CodeRow b = e5m2({0x6C, one_e5m2, 0x6C, one_e5m2});
    EXPECT_EQ(model_says("amx-fp8", a, b), power_f32(0));
    EXPECT_EQ(model_says("amx-fp8", e5m2({0x01}), e5m2({one_e5m2})), 0u);
    const CodeRow e4m3{formats::e4m3, {0x01}};
    EXPECT_EQ(model_says("amx-fp8", e4m3, ones(e4m3, one)), power_f32(-9));
}

TEST(DotModel, ArmRoundsFourProductsAndTheAccumulatorOnce) {
    // 2^24 + 1 + 2^-16 lies above the tie.
    const CodeRow row = e5m2({one_e5m2, 0x01});
    EXPECT_EQ(model_says("arm-fp8-dot4", row, ones(row, one_e5m2), power_f32(24)), 0x4B800001u);
    EXPECT_EQ(model_says("fma-chain", row, ones(row, one_e5m2), power_f32(24)), power_f32(24));
    const CodeRow zeros = e5m2({0x80, 0x80, 0x80, 0x80}), fewer = e5m2({0x80, 0x80, 0x80});
    EXPECT_EQ(model_says("arm-fp8-dot4", zeros, ones(zeros, one_e5m2), minus_zero), minus_zero);
    EXPECT_EQ(model_says("arm-fp8-dot4", fewer, ones(fewer, one_e5m2), minus_zero), 0u);
}

// Of 16 products 27 bits are kept below the largest exponent, to odd.
TEST(DotModel, RiscvRoundsToOddTwice) {
    // 2^14, 2^-16 and -2^14: the unit is 2^-13.
    const CodeRow a = e5m2({0x58, 0x01, 0x58 | minus_e5m2}), b = e5m2({0x58, one_e5m2, 0x58});
    EXPECT_EQ(model_says("rvv-fp8-vlen128", a, b), power_f32(-13));
    EXPECT_EQ(model_says("rvv-fp8-vlen256", a, b), power_f32(-14));
    // 1 + 2^-30.
    const CodeRow small = e5m2({0x02});
    EXPECT_EQ(model_says("rvv-fp8-vlen128", small, small, 0x3F800000), 0x3F800001u);
    const CodeRow zero = e5m2({0x80});
    EXPECT_EQ(model_says("rvv-fp8-vlen128", zero, ones(zero, one_e5m2), minus_zero), 0u);
}

TEST(DotModel, MxScalesMoveExponents) {
    // 2^127 * 2^-127: nothing is lost, and nothing is rounded on the way.
    EXPECT_EQ(model_says("blackwell-mx", mx_e4m3({0x3F}, {254}), mx_e4m3({one}, {0})), 0x3FF00000u);
    EXPECT_EQ(model_says("blackwell-mx", mx_e4m3({0}, {255}), mx_e4m3({0}, {127})), 0x7FFFFFFFu);
    EXPECT_EQ(model_says("blackwell-mx", mx_e4m3({one}, {254}), mx_e4m3({one}, {129})),
              0x7F800000u);
}

TEST(DotModel, Nvfp4GroupsAreExactInside) {
    // 16 * 6 * 6 = 576, times 1.125 * 1.125.
    const CodeRow row{formats::e2m1, Codes(16, 7), ue4m3, {0x39}, 16};
    EXPECT_EQ(model_says("blackwell-fp4", row, row), 0x44364000u);  // 729
    const CodeRow signless{formats::e2m1, Codes(16, 7), ue4m3, {0xB9}, 16};
    EXPECT_EQ(model_says("blackwell-fp4", row, signless), 0x44364000u);
}

}  // namespace
}  // namespace mx
