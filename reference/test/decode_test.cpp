// exact/decode: values typed by hand from the specifications.
#include "reference/exact/decode.hpp"

#include <gtest/gtest.h>

#include "reference/spec/formats.hpp"

namespace mx::exact {
namespace {

std::string text(const ElementFormat& format, std::uint32_t bits) {
    return to_text(decode(format, Code{bits}));
}

TEST(Decode, E4m3OfOfp8Table1) {
    EXPECT_EQ(text(formats::e4m3, 0x00), "0");
    EXPECT_EQ(text(formats::e4m3, 0x80), "-0");
    EXPECT_EQ(text(formats::e4m3, 0x01), "0.001953125");  // 2^-9
    EXPECT_EQ(text(formats::e4m3, 0x07), "0.013671875");  // 0.875 * 2^-6
    EXPECT_EQ(text(formats::e4m3, 0x08), "0.015625");     // 2^-6
    EXPECT_EQ(text(formats::e4m3, 0x38), "1");
    EXPECT_EQ(text(formats::e4m3, 0x7E), "448");
    EXPECT_EQ(text(formats::e4m3, 0xFE), "-448");
    EXPECT_EQ(text(formats::e4m3, 0x7F), "nan");
    EXPECT_EQ(text(formats::e4m3, 0xFF), "-nan");
}

TEST(Decode, E5m2OfOfp8Table1) {
    EXPECT_EQ(text(formats::e5m2, 0x01), "0.0000152587890625");  // 2^-16
    EXPECT_EQ(text(formats::e5m2, 0x04), "0.00006103515625");    // 2^-14
    EXPECT_EQ(text(formats::e5m2, 0x7B), "57344");
    EXPECT_EQ(text(formats::e5m2, 0x7C), "inf");
    EXPECT_EQ(text(formats::e5m2, 0xFC), "-inf");
    for (const std::uint32_t nan : {0x7Du, 0x7Eu, 0x7Fu})
        EXPECT_EQ(text(formats::e5m2, nan), "nan");
}

// ONNX's table of the four FP8 formats: one NaN at the code of -0, no Inf.
TEST(Decode, FnuzHasOneNanAndNoNegativeZero) {
    EXPECT_EQ(text(formats::e4m3fnuz, 0x00), "0");
    EXPECT_EQ(text(formats::e4m3fnuz, 0x80), "-nan");
    EXPECT_EQ(text(formats::e4m3fnuz, 0x7F), "240");
    EXPECT_EQ(text(formats::e4m3fnuz, 0xFF), "-240");
    EXPECT_EQ(text(formats::e4m3fnuz, 0x40), "1");
    EXPECT_EQ(decode(formats::e4m3fnuz, Code{0x01}).magnitude, power_of_two(-10));
    EXPECT_EQ(decode(formats::e4m3fnuz, Code{0x08}).magnitude, power_of_two(-7));
    EXPECT_EQ(text(formats::e5m2fnuz, 0x80), "-nan");
    EXPECT_EQ(text(formats::e5m2fnuz, 0x7F), "57344");
    EXPECT_EQ(text(formats::e5m2fnuz, 0x40), "1");
    EXPECT_EQ(decode(formats::e5m2fnuz, Code{0x01}).magnitude, power_of_two(-17));
    for (const ElementFormat& format : {formats::e4m3fnuz, formats::e5m2fnuz}) {
        EXPECT_FALSE(format.has_negative_zero());
        EXPECT_FALSE(format.is_zero(Code{0x80}));
        EXPECT_FALSE(format.is_subnormal(Code{0x80}));
        EXPECT_TRUE(format.is_subnormal(Code{0x81}));
    }
}

TEST(Decode, E8m0HasNoZeroAndNoInfinity) {
    EXPECT_EQ(decode(formats::e8m0, Code{0}).magnitude, power_of_two(-127));
    EXPECT_EQ(decode(formats::e8m0, Code{127}).magnitude, 1);
    EXPECT_EQ(decode(formats::e8m0, Code{254}).magnitude, power_of_two(127));
    EXPECT_TRUE(decode(formats::e8m0, Code{255}).is_nan());
}

TEST(Decode, WiderFormats) {
    EXPECT_EQ(decode(formats::f32, Code{1}).magnitude, power_of_two(-149));
    EXPECT_EQ(decode(formats::f32, Code{0x7F7FFFFF}).magnitude,
              power_of_two(128) - power_of_two(104));
    EXPECT_EQ(text(formats::f32, 0x3E600000), "0.21875");
    EXPECT_EQ(text(formats::bf16, 0x3F80), "1");
    EXPECT_EQ(decode(formats::bf16, Code{1}).magnitude, power_of_two(-133));
    EXPECT_EQ(text(formats::f16, 0x7BFF), "65504");
    EXPECT_EQ(decode(formats::f16, Code{1}).magnitude, power_of_two(-24));
    EXPECT_TRUE(decode(formats::f16, Code{0x7C00}).is_infinity());
    EXPECT_TRUE(decode(formats::f16, Code{0x7C01}).is_nan());
}

TEST(Rational, PrintsFractionsAndDecimals) {
    EXPECT_EQ(to_fraction(Rational(29, 16)), "29/16");
    EXPECT_EQ(to_fraction(Rational(7)), "7");
    EXPECT_EQ(to_short_fraction(Rational(29, 16)), "29/16");
    EXPECT_EQ(to_short_fraction(power_of_two(-149)), "2^-149");
    EXPECT_EQ(to_short_fraction(times_power_of_two(-5, -134)), "-5 * 2^-134");
    EXPECT_EQ(to_short_fraction(times_power_of_two(255, 120)), "255 * 2^120");
    EXPECT_EQ(to_short_fraction(power_of_two(100) / Rational(3)),
              "1267650600228229401496703205376/3");
    EXPECT_EQ(to_short_fraction(Rational(0)), "0");
    EXPECT_EQ(to_decimal(Rational(29, 16)), "1.8125");
    EXPECT_EQ(to_decimal(Rational(1, 3), 4), "0.3333...");
    EXPECT_EQ(to_decimal(-Rational(3, 2)), "-1.5");
    EXPECT_EQ(to_decimal(Rational(448)), "448");
}

TEST(Rational, FloorLog2AtBothSidesOfPowersOfTwo) {
    for (const int exponent : {-149, -1, 0, 1, 9, 127}) {
        const Rational power = power_of_two(exponent);
        EXPECT_EQ(floor_log2(power), exponent);
        EXPECT_EQ(floor_log2(power - power_of_two(-300)), exponent - 1);
        EXPECT_EQ(floor_log2(power + power_of_two(-300)), exponent);
    }
}

}  // namespace
}  // namespace mx::exact
