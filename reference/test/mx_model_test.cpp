// The models of MX products on Hopper: where scales come in, what is rounded there, and in which
// range bfloat16 holds a code times its scale. Numbers typed by hand from the rows' definitions.
#include <gtest/gtest.h>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using Codes = std::vector<std::uint32_t>;

constexpr std::uint32_t infinity = 0x7F800000, nan = 0x7FFFFFFF;

constexpr std::uint32_t power_f32(int exponent) {
    return static_cast<std::uint32_t>(exponent + 127) << 23;
}

struct Block {
    std::uint32_t code;   // of the first element; the others are zero
    std::uint32_t scale;  // E8M0
};
CodeRow row(const ElementFormat& format, const std::vector<Block>& blocks) {
    CodeRow row{format, Codes(blocks.size() * 32, 0), formats::e8m0, {}, 32};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        row.codes[i * 32] = blocks[i].code;
        row.scales.push_back(blocks[i].scale);
    }
    return row;
}
CodeRow e4m3(const std::vector<Block>& blocks) {
    return row(formats::e4m3, blocks);
}
CodeRow e5m2(const std::vector<Block>& blocks) {
    return row(formats::e5m2, blocks);
}

// What both engines say, which must be one thing.
std::uint32_t model_says(std::string_view name, const CodeRow& a, const CodeRow& b) {
    const GemmModel& model = *find_gemm_model(name);
    constexpr ElementFormat f32 = formats::f32;
    const Code by_exact =
        exact::round(f32, Rounding::nearest_even, Overflow::overflow,
                     exact::accumulate(model, a.row(), b.row(), a.depth(), exact::number(0)));
    const Code by_fast = fast::round(f32, Rounding::nearest_even, Overflow::overflow,
                                     fast::accumulate(model, a.row(), b.row(), a.depth(), {}));
    EXPECT_EQ(by_exact.bits, by_fast.bits) << name;
    return by_exact.bits;
}

constexpr std::uint32_t one = 0x38, two = 0x40, half = 0x30, largest = 0x7E, least = 0x01;
constexpr std::string_view every_row[] = {"hopper-mx-wgmma", "hopper-mx-slices", "hopper-mx-bf16"};

TEST(MxModel, ScalesMultiply) {
    for (const std::string_view name : every_row)
        EXPECT_EQ(model_says(name, e4m3({{one, 130}}), e4m3({{half, 120}})), power_f32(-5)) << name;
}

TEST(MxModel, NanScalesPoisonZeros) {
    for (const std::string_view name : every_row)
        EXPECT_EQ(model_says(name, e4m3({{0, 255}}), e4m3({{0, 127}})), nan) << name;
}

// 2^14 and 2^-9 are 24 bits apart, which binary32 holds and a chain of 13 does not.
TEST(MxModel, EveryBlockIsPromoted) {
    const CodeRow a = e4m3({{0x70, 127}, {least, 127}}), b = e4m3({{0x70, 127}, {one, 127}});
    for (const std::string_view name : every_row)
        EXPECT_EQ(model_says(name, a, b), power_f32(14) + 1) << name;
    EXPECT_EQ(model_says("hopper-fp8-promoted", a, b), power_f32(14));
}

// The sum of a block, 2, times one scale may overflow although the other would bring it back.
TEST(MxModel, TheScaleThatComesFirstMayOverflow) {
    const CodeRow up = e4m3({{two, 254}}), down = e4m3({{one, 0}});
    EXPECT_EQ(model_says("hopper-mx-slices", up, down), power_f32(1));
    EXPECT_EQ(model_says("hopper-mx-slices", down, up), infinity);
}

// 2^-16 * 2^-16 * 2^-127 is less than half of the smallest number of binary32.
TEST(MxModel, TheScaleThatComesFirstMayLeaveNothing) {
    const CodeRow down = e5m2({{0x01, 0}}), up = e5m2({{0x01, 254}});
    EXPECT_EQ(model_says("hopper-mx-slices", up, down), 0u);
    EXPECT_EQ(model_says("hopper-mx-slices", down, up), power_f32(-32));
}

// 2^127 * 2^-127 is 1, and the sum of a block meets that alone.
TEST(MxModel, TheScalesProductComesFirstInWgmma) {
    const CodeRow up = e4m3({{two, 254}}), down = e4m3({{one, 0}});
    EXPECT_EQ(model_says("hopper-mx-wgmma", up, down), power_f32(1));
    EXPECT_EQ(model_says("hopper-mx-wgmma", down, up), power_f32(1));
}

// 2^64 * 2^64 is Inf, which the sum of a block, 2^-18, does not bring back, and zero makes NaN.
TEST(MxModel, TheScalesProductMayOverflow) {
    const CodeRow small = e4m3({{least, 191}}), zero = e4m3({{0, 191}});
    EXPECT_EQ(model_says("hopper-mx-wgmma", small, small), infinity);
    EXPECT_EQ(model_says("hopper-mx-wgmma", zero, small), nan);
    EXPECT_EQ(model_says("hopper-mx-wgmma", e4m3({{least, 190}}), small), power_f32(109));
    for (const std::string_view name : {"hopper-mx-slices", "hopper-mx-bf16"}) {
        EXPECT_EQ(model_says(name, small, small), power_f32(110)) << name;
        EXPECT_EQ(model_says(name, zero, small), 0u) << name;
    }
}

// 2^-70 * 2^-80 is 0 in binary32, and 2^-70 * 2^-79 the smallest number.
TEST(MxModel, TheScalesProductMayLeaveNothing) {
    // 448 * 448 = 0x31000, half of that many times 2^-149.
    const CodeRow a = e4m3({{largest, 57}}), b = e4m3({{largest, 47}});
    for (const std::string_view name : {"hopper-mx-slices", "hopper-mx-bf16"})
        EXPECT_EQ(model_says(name, a, b), 0x18800u) << name;
    EXPECT_EQ(model_says("hopper-mx-wgmma", a, b), 0u);
    EXPECT_EQ(model_says("hopper-mx-wgmma", a, e4m3({{largest, 48}})), 0x31000u);
}

// One unit of 2^-149, and then 1.5: fused they are 2.5, which goes to 2, and apart 1 + 2.
TEST(MxModel, SlicesRoundBeforeTheyAdd) {
    const CodeRow a = e5m2({{0x01, 127}, {0x01, 127}});  // 2^-16
    const CodeRow b = e5m2({{0x24, 0}, {0x26, 0}});      // 2^-6 and 1.5 * 2^-6, times 2^-127
    EXPECT_EQ(model_says("hopper-mx-slices", a, b), 3u);
    EXPECT_EQ(model_says("hopper-mx-wgmma", a, b), 2u);
}

TEST(MxModel, BfloatOverflowsAndCuts) {
    const CodeRow unit = e4m3({{one, 127}});
    // 1.75 * 2^8 * 2^119 is the largest; one binade more is Inf.
    EXPECT_EQ(model_says("hopper-mx-bf16", e4m3({{largest, 246}}), unit), 0x7F600000u);
    EXPECT_EQ(model_says("hopper-mx-bf16", e4m3({{largest, 247}}), unit), infinity);
    // 2^-9 * 2^-124 is the smallest number of bfloat16, half of it a tie, and goes to zero.
    EXPECT_EQ(model_says("hopper-mx-bf16", e4m3({{least, 3}}), unit), 1u << 16);
    EXPECT_EQ(model_says("hopper-mx-bf16", e4m3({{least, 2}}), unit), 0u);
    // 1.5 times as much is a tie that goes up.
    EXPECT_EQ(model_says("hopper-mx-bf16", e4m3({{0x03, 2}}), unit), 2u << 16);
}

// -2^-70 * 2^-85 is below the smallest number of binary32. Tensor cores cut it to +0, and the
// slices add a -0 to +0. The fused multiply-add of the kernel rounds -2^-9 * 2^-149 to -0.
TEST(MxModel, ANegativeSumThatIsCutAwayLeavesPlusZero) {
    const CodeRow a = e4m3({{one | 0x80, 57}}), b = e4m3({{one, 42}});
    EXPECT_EQ(model_says("hopper-mx-bf16", a, b), 0u);
    const CodeRow c = e4m3({{least | 0x80, 57}}), d = e4m3({{one, 48}});
    EXPECT_EQ(model_says("hopper-mx-wgmma", c, d), 0x80000000u);
    EXPECT_EQ(model_says("hopper-mx-slices", a, b), 0u);
}

// Over all 65,536 codes and scales: the exponents of scales with which every finite code is
// bfloat16 to the last bit.
struct Range {
    int first, last;
};
Range lossless_range(const ElementFormat& format) {
    Range range{1000, -1000};
    for (std::uint32_t scale = 0; scale < 255; ++scale) {
        bool is_lossless = true;
        for (std::uint32_t code = 0; code < 256; ++code) {
            const exact::Value value = exact::decode(format, Code{code});
            if (!value.is_finite()) continue;
            const exact::Value scaled =
                exact::times(value, exact::decode(formats::e8m0, Code{scale}));
            const Code rounded =
                exact::round(formats::bf16, Rounding::nearest_even, Overflow::overflow, scaled);
            const exact::Value back = exact::decode(formats::bf16, rounded);
            is_lossless &= back.is_finite() && back.magnitude == scaled.magnitude;
        }
        if (!is_lossless) continue;
        range.first = std::min(range.first, static_cast<int>(scale) - 127);
        range.last = std::max(range.last, static_cast<int>(scale) - 127);
    }
    return range;
}

TEST(MxModel, BfloatHoldsCodesTimesScalesInThisRange) {
    const Range of_e4m3 = lossless_range(formats::e4m3), of_e5m2 = lossless_range(formats::e5m2);
    EXPECT_EQ(of_e4m3.first, -124);
    EXPECT_EQ(of_e4m3.last, 119);
    EXPECT_EQ(of_e5m2.first, -117);
    EXPECT_EQ(of_e5m2.last, 112);
}

}  // namespace
}  // namespace mx
