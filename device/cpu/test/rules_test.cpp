// The constants of rules.cpp against the rules they stand for, computed the long way: with float
// multiplication, frexp and doubles.
#include "device/cpu/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/scalar.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

int clamped(int scale) { return scale < 0 ? 0 : scale; }

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
    std::uint32_t reciprocal;  // 1 / 448 and 1 / 57344 as binary32
};

TEST(Rules, RatioIsThatOfTheBinary32Product) {
    for (const RatioCase& ratio : {RatioCase{ElementType::e4m3, 0x3B124925u},
                                   RatioCase{ElementType::e5m2, 0x37924925u}}) {
        const ScaleRule rule = *find_scale_rule("nv", ratio.element);
        for (std::uint32_t field = 0; field < 255; ++field) {
            // Every amax where products are subnormal or barely normal, borders elsewhere.
            const std::uint32_t step = field >= 6 && field <= 17 ? 1 : 4099;
            for (std::uint32_t mantissa = 0; mantissa < 0x800000u; mantissa += step) {
                const std::uint32_t amax = field << 23 | mantissa;
                ASSERT_EQ(scale_code(rule, amax), ratio_scale(amax, ratio.reciprocal))
                    << std::hex << amax;
            }
            for (std::uint32_t mantissa = 0x5FFFF0u; mantissa < 0x600010u; ++mantissa) {
                const std::uint32_t amax = field << 23 | mantissa;
                ASSERT_EQ(scale_code(rule, amax), ratio_scale(amax, ratio.reciprocal))
                    << std::hex << amax;
            }
        }
    }
}

// Exponents of amax as a double, which holds it exactly.
int floor_log2(double value) { return std::ilogb(value); }
int ceil_log2(double value) {
    const int down = std::ilogb(value);
    return std::ldexp(1.0, down) == value ? down : down + 1;
}
double to_mantissa_bits(double value, int bits) {
    const double unit = std::ldexp(1.0, std::ilogb(value) - bits);
    return std::floor(value / unit + 0.5) * unit;
}

TEST(Rules, FloorCeilAndEvenAreTheirLogarithms) {
    for (const ElementType element : {ElementType::e4m3, ElementType::e5m2}) {
        const int emax = element == ElementType::e4m3 ? 8 : 15;
        const int bits = element == ElementType::e4m3 ? 3 : 2;
        const ScaleRule down = *find_scale_rule("torchao-floor", element);
        const ScaleRule up = *find_scale_rule("torchao-ceil", element);
        const ScaleRule even = *find_scale_rule("torchao-even", element);
        for (std::uint32_t amax = 1; amax < f32_infinity; amax += amax < 0x2000000u ? 257 : 1021) {
            const double value = double{float_of(amax)};
            ASSERT_EQ(scale_code(down, amax), clamped(floor_log2(value) - emax + 127));
            ASSERT_EQ(scale_code(up, amax), clamped(ceil_log2(value) - emax + 127));
            const double rounded = to_mantissa_bits(value, bits);
            const int expected = rounded >= std::ldexp(1.0, 128)
                                     ? 255
                                     : clamped(floor_log2(rounded) - emax + 127);
            ASSERT_EQ(scale_code(even, amax), expected) << std::hex << amax;
        }
    }
}

TEST(Rules, OcpIsFloorAndNvDiffersFromRceilAtInfinityOnly) {
    for (const ElementType element : {ElementType::e4m3, ElementType::e5m2}) {
        const ScaleRule ocp = *find_scale_rule("ocp", element);
        const ScaleRule down = *find_scale_rule("torchao-floor", element);
        const ScaleRule nv = *find_scale_rule("nv", element);
        const ScaleRule rceil = *find_scale_rule("torchao-rceil", element);
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

TEST(Rules, UnknownNamesAreUnknown) {
    EXPECT_FALSE(find_scale_rule("OCP", ElementType::e4m3));
    EXPECT_FALSE(find_block_format("mxfp4"));
    EXPECT_FALSE(find_element_type("e4m3fn"));
    EXPECT_FALSE(find_value_type("f64"));
}

}  // namespace
}  // namespace mx::cpu::test
