// The constants of rules.cpp against the rules they stand for, computed the long way: with float
// multiplication, frexp and doubles.
#include "device/cpu/rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/cpu/scalar.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

int clamped(int scale) {
    return scale < 0 ? 0 : scale;
}

// ceil(log2(fl32(amax * fl32(1 / max)))) + 127.
int ratio_scale(std::uint32_t amax, std::uint32_t reciprocal) {
    volatile float factor = float_of(reciprocal);
    const std::uint32_t product = bits_of(float_of(amax) * factor);
    if (product == 0) return 0;
    int exponent = 0;
    const double mantissa = std::frexp(double{float_of(product)}, &exponent);
    return clamped((mantissa == 0.5 ? exponent - 1 : exponent) + 127);
}

struct RatioCase {
    ElementType element;
    std::uint32_t reciprocal;  // 1 / largest as binary32
    std::uint32_t border;      // the mantissa field of the largest
};

constexpr RatioCase ratio_cases[] = {
    {ElementType::e4m3, 0x3B124925u, 0x600000},          {ElementType::e5m2, 0x37924925u, 0x600000},
    {ElementType::e3m2, 0x3D124925u, 0x600000},          {ElementType::e2m3, 0x3E088889u, 0x700000},
    {ElementType::e2m1, 0x3E2AAAABu, 0x400000},          {ElementType::int8, 0x3F010204u, 0x7E0000},
    {ElementType::int8_symmetric, 0x3F010204u, 0x7E0000}};

int ratio_byte(std::uint32_t amax, const RatioCase& ratio) {
    return std::min(ratio_scale(amax, ratio.reciprocal), 254);
}

TEST(Rules, RatioIsThatOfTheBinary32Product) {
    for (const RatioCase& ratio : ratio_cases) {
        const ScaleRule rule = find_dialect_rule("nv", ratio.element)->scale;
        for (std::uint32_t field = 0; field < 255; ++field) {
            // Every amax whose product may be subnormal and above 2^-127, borders elsewhere.
            const std::uint32_t step = field == rule.exponent_offset ? 1 : 4099;
            for (std::uint32_t mantissa = 0; mantissa < 0x800000u; mantissa += step) {
                const std::uint32_t amax = field << 23 | mantissa;
                ASSERT_EQ(scale_code(rule, amax), ratio_byte(amax, ratio)) << std::hex << amax;
            }
            for (std::uint32_t mantissa = ratio.border - 16; mantissa < ratio.border + 16;
                 ++mantissa) {
                const std::uint32_t amax = field << 23 | mantissa;
                ASSERT_EQ(scale_code(rule, amax), ratio_byte(amax, ratio)) << std::hex << amax;
            }
        }
    }
}

// Exponents of amax as a double, which holds it exactly.
int floor_log2(double value) {
    return std::ilogb(value);
}
int ceil_log2(double value) {
    const int down = std::ilogb(value);
    return std::ldexp(1.0, down) == value ? down : down + 1;
}
double to_mantissa_bits(double value, int bits) {
    const double unit = std::ldexp(1.0, std::ilogb(value) - bits);
    return std::floor(value / unit + 0.5) * unit;
}

TEST(Rules, FloorCeilAndEvenAreTheirLogarithms) {
    struct Case {
        ElementType element;
        int emax;
        int bits;
    };
    for (const auto& [element, emax, bits] :
         {Case{ElementType::e4m3, 8, 3}, Case{ElementType::e5m2, 15, 2},
          Case{ElementType::e3m2, 4, 2}, Case{ElementType::e2m3, 2, 3},
          Case{ElementType::e2m1, 2, 1}}) {
        const ScaleRule down = find_dialect_rule("torchao-floor", element)->scale;
        const ScaleRule up = find_dialect_rule("torchao-ceil", element)->scale;
        const ScaleRule even = find_dialect_rule("torchao-even", element)->scale;
        for (std::uint32_t amax = 1; amax < f32_infinity; amax += amax < 0x2000000u ? 257 : 1021) {
            const double value = double{float_of(amax)};
            ASSERT_EQ(scale_code(down, amax), clamped(floor_log2(value) - emax + 127));
            ASSERT_EQ(scale_code(up, amax), clamped(ceil_log2(value) - emax + 127));
            const double rounded = to_mantissa_bits(value, bits);
            const int expected =
                rounded >= std::ldexp(1.0, 128) ? 255 : clamped(floor_log2(rounded) - emax + 127);
            ASSERT_EQ(scale_code(even, amax), expected) << std::hex << amax;
        }
    }
}

TEST(Rules, OcpIsFloorAndNvDiffersFromRceilAtInfinityOnly) {
    for (const ElementType element : {ElementType::e4m3, ElementType::e5m2}) {
        const ScaleRule ocp = find_dialect_rule("ocp", element)->scale;
        const ScaleRule down = find_dialect_rule("torchao-floor", element)->scale;
        const ScaleRule nv = find_dialect_rule("nv", element)->scale;
        const ScaleRule rceil = find_dialect_rule("torchao-rceil", element)->scale;
        for (std::uint32_t amax = 0; amax < f32_infinity; amax += 8191) {
            ASSERT_EQ(scale_code(ocp, amax), scale_code(down, amax));
            ASSERT_EQ(scale_code(nv, amax), scale_code(rceil, amax));
        }
        EXPECT_EQ(scale_code(ocp, f32_infinity), 0xFF);
        EXPECT_EQ(scale_code(nv, f32_infinity), 0xFE);
        EXPECT_EQ(scale_code(rceil, f32_infinity), 0xFF);
        EXPECT_EQ(scale_code(nv, f32_nan), 0xFF);
    }
}

// INT8 has no bits above amax: 2^-126 is the first value with the byte 1.
TEST(Rules, FloorOfInt8) {
    const ScaleRule rule = find_dialect_rule("ocp", ElementType::int8)->scale;
    for (const std::uint32_t amax : {0u, 1u, 0x400000u, 0x7FFFFFu})
        EXPECT_EQ(scale_code(rule, amax), 0);
    EXPECT_EQ(scale_code(rule, 0x800000u), 1);
    EXPECT_EQ(scale_code(rule, bits_of(1.99f)), 127);
    EXPECT_EQ(scale_code(rule, 0x7F7FFFFFu), 254);
    EXPECT_EQ(scale_code(rule, f32_infinity), 255);
}

// Two columns of the table of casts in the facts about vendors: rounded up, as CUDA's header does
// with and without saturation, and down.
TEST(Rules, CastsToE8m0) {
    struct Case {
        std::uint32_t value;
        int nv, torchao_rceil, ocp;
    };
    const Case cases[] = {
        {0, 0, 0, 0},
        {1, 0, 0, 0},
        {0x400000, 0, 0, 0},
        {0x400001, 1, 1, 0},
        {0x600000, 1, 1, 0},
        {0x7FFFFF, 1, 1, 0},
        {0x800000, 1, 1, 1},
        {bits_of(1), 127, 127, 127},
        {bits_of(1) + 1, 128, 128, 127},
        {bits_of(3), 129, 129, 128},
        {0x7F000000, 254, 254, 254},
        {0x7F000001, 254, 255, 254},
        {0x7F7FFFFF, 254, 255, 254},
        {f32_infinity, 254, 255, 255},
        {f32_nan, 255, 255, 255},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(scale_code(*find_cast_rule("nv"), each.value), each.nv) << each.value;
        EXPECT_EQ(scale_code(*find_cast_rule("torchao-rceil"), each.value), each.torchao_rceil);
        EXPECT_EQ(scale_code(*find_cast_rule("ocp"), each.value), each.ocp) << each.value;
        EXPECT_EQ(scale_code(*find_cast_rule("torchao-even"), each.value), each.ocp);
    }
}

TEST(Rules, UnknownNamesAreUnknown) {
    EXPECT_FALSE(find_dialect_rule("OCP", ElementType::e4m3));
    EXPECT_FALSE(knows_dialect("OCP"));
    EXPECT_FALSE(find_cast_rule("OCP"));
    EXPECT_FALSE(find_dialect_rule("torchao-ceil", ElementType::int8));
    EXPECT_TRUE(knows_dialect("torchao-ceil"));
    EXPECT_FALSE(find_rounding("stochastic"));
    EXPECT_FALSE(find_subnormals("flushed"));
    EXPECT_FALSE(find_block_format("mxfp4"));
    EXPECT_FALSE(find_element_type("e4m3fn"));
    EXPECT_FALSE(find_value_type("f64"));
}

}  // namespace
}  // namespace mx::cpu::test
