// Answers that were typed by hand, from the specifications and from what libraries publish: what
// an oracle is asked before it is believed. Data only; self_check.hpp asks. A row that an oracle
// was asked for would prove nothing, so none is.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/formats.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::known {

// units * 2^exponent with a sign, or none at all.
struct Number {
    enum class Kind : std::uint8_t { finite, infinity, nan };
    Kind kind = Kind::finite;
    bool negative = false;
    std::uint64_t units = 0;
    int exponent = 0;
};

constexpr Number plus(std::uint64_t units, int exponent = 0) {
    return {Number::Kind::finite, false, units, exponent};
}
constexpr Number minus(std::uint64_t units, int exponent = 0) {
    return {Number::Kind::finite, true, units, exponent};
}
inline constexpr Number infinity{Number::Kind::infinity, false, 0, 0};
inline constexpr Number minus_infinity{Number::Kind::infinity, true, 0, 0};
inline constexpr Number nan{Number::Kind::nan, false, 0, 0};

struct Decoded {
    const ElementFormat* format;
    std::uint32_t code;
    Number value;
};

inline constexpr std::array decoded{
    // OFP8 v1.0 table 1.
    Decoded{&formats::e4m3, 0x00, plus(0)},
    Decoded{&formats::e4m3, 0x80, minus(0)},
    Decoded{&formats::e4m3, 0x01, plus(1, -9)},
    Decoded{&formats::e4m3, 0x02, plus(1, -8)},
    Decoded{&formats::e4m3, 0x03, plus(3, -9)},
    Decoded{&formats::e4m3, 0x07, plus(7, -9)},
    Decoded{&formats::e4m3, 0x08, plus(1, -6)},
    Decoded{&formats::e4m3, 0x09, plus(9, -9)},
    Decoded{&formats::e4m3, 0x0F, plus(15, -9)},
    Decoded{&formats::e4m3, 0x10, plus(1, -5)},
    Decoded{&formats::e4m3, 0x30, plus(1, -1)},
    Decoded{&formats::e4m3, 0x38, plus(1)},
    Decoded{&formats::e4m3, 0x3C, plus(3, -1)},
    Decoded{&formats::e4m3, 0x3F, plus(15, -3)},
    Decoded{&formats::e4m3, 0x40, plus(2)},
    Decoded{&formats::e4m3, 0x44, plus(3)},
    Decoded{&formats::e4m3, 0x59, plus(18)},
    Decoded{&formats::e4m3, 0x70, plus(128)},
    Decoded{&formats::e4m3, 0x77, plus(240)},
    Decoded{&formats::e4m3, 0x7D, plus(416)},
    Decoded{&formats::e4m3, 0x7E, plus(448)},
    Decoded{&formats::e4m3, 0x7F, nan},
    Decoded{&formats::e4m3, 0x81, minus(1, -9)},
    Decoded{&formats::e4m3, 0xB8, minus(1)},
    Decoded{&formats::e4m3, 0xFE, minus(448)},
    Decoded{&formats::e4m3, 0xFF, nan},
    Decoded{&formats::e5m2, 0x00, plus(0)},
    Decoded{&formats::e5m2, 0x80, minus(0)},
    Decoded{&formats::e5m2, 0x01, plus(1, -16)},
    Decoded{&formats::e5m2, 0x03, plus(3, -16)},
    Decoded{&formats::e5m2, 0x04, plus(1, -14)},
    Decoded{&formats::e5m2, 0x05, plus(5, -16)},
    Decoded{&formats::e5m2, 0x3C, plus(1)},
    Decoded{&formats::e5m2, 0x3D, plus(5, -2)},
    Decoded{&formats::e5m2, 0x3F, plus(7, -2)},
    Decoded{&formats::e5m2, 0x77, plus(28672)},
    Decoded{&formats::e5m2, 0x78, plus(32768)},
    Decoded{&formats::e5m2, 0x7B, plus(57344)},
    Decoded{&formats::e5m2, 0x7C, infinity},
    Decoded{&formats::e5m2, 0x7D, nan},
    Decoded{&formats::e5m2, 0x7E, nan},
    Decoded{&formats::e5m2, 0x7F, nan},
    Decoded{&formats::e5m2, 0xBC, minus(1)},
    Decoded{&formats::e5m2, 0xFB, minus(57344)},
    Decoded{&formats::e5m2, 0xFC, minus_infinity},
    // OCP MX v1.0 section 5.3.
    Decoded{&formats::e3m2, 0x20, minus(0)},
    Decoded{&formats::e3m2, 0x01, plus(1, -4)},
    Decoded{&formats::e3m2, 0x03, plus(3, -4)},
    Decoded{&formats::e3m2, 0x04, plus(1, -2)},
    Decoded{&formats::e3m2, 0x05, plus(5, -4)},
    Decoded{&formats::e3m2, 0x0C, plus(1)},
    Decoded{&formats::e3m2, 0x0E, plus(3, -1)},
    Decoded{&formats::e3m2, 0x1C, plus(16)},
    Decoded{&formats::e3m2, 0x1F, plus(28)},
    Decoded{&formats::e3m2, 0x2C, minus(1)},
    Decoded{&formats::e3m2, 0x3F, minus(28)},
    Decoded{&formats::e2m3, 0x20, minus(0)},
    Decoded{&formats::e2m3, 0x01, plus(1, -3)},
    Decoded{&formats::e2m3, 0x07, plus(7, -3)},
    Decoded{&formats::e2m3, 0x08, plus(1)},
    Decoded{&formats::e2m3, 0x09, plus(9, -3)},
    Decoded{&formats::e2m3, 0x10, plus(2)},
    Decoded{&formats::e2m3, 0x1F, plus(15, -1)},
    Decoded{&formats::e2m3, 0x28, minus(1)},
    Decoded{&formats::e2m3, 0x3F, minus(15, -1)},
    Decoded{&formats::e2m1, 0x0, plus(0)},
    Decoded{&formats::e2m1, 0x1, plus(1, -1)},
    Decoded{&formats::e2m1, 0x2, plus(1)},
    Decoded{&formats::e2m1, 0x3, plus(3, -1)},
    Decoded{&formats::e2m1, 0x4, plus(2)},
    Decoded{&formats::e2m1, 0x5, plus(3)},
    Decoded{&formats::e2m1, 0x6, plus(4)},
    Decoded{&formats::e2m1, 0x7, plus(6)},
    Decoded{&formats::e2m1, 0x8, minus(0)},
    Decoded{&formats::e2m1, 0x9, minus(1, -1)},
    Decoded{&formats::e2m1, 0xB, minus(3, -1)},
    Decoded{&formats::e2m1, 0xF, minus(6)},
    Decoded{&formats::int8, 0x00, plus(0)},
    Decoded{&formats::int8, 0x01, plus(1, -6)},
    Decoded{&formats::int8, 0x40, plus(1)},
    Decoded{&formats::int8, 0x7F, plus(127, -6)},
    Decoded{&formats::int8, 0x80, minus(2)},
    Decoded{&formats::int8, 0x81, minus(127, -6)},
    Decoded{&formats::int8, 0xFF, minus(1, -6)},
    Decoded{&formats::int8_symmetric, 0x7F, plus(127, -6)},
    Decoded{&formats::int8_symmetric, 0x81, minus(127, -6)},
    // OCP MX v1.0 section 5.4.1.
    Decoded{&formats::e8m0, 0, plus(1, -127)},
    Decoded{&formats::e8m0, 1, plus(1, -126)},
    Decoded{&formats::e8m0, 126, plus(1, -1)},
    Decoded{&formats::e8m0, 127, plus(1)},
    Decoded{&formats::e8m0, 128, plus(2)},
    Decoded{&formats::e8m0, 254, plus(1, 127)},
    Decoded{&formats::e8m0, 255, nan},
    Decoded{&ue4m3, 0x39, plus(9, -3)},
    Decoded{&ue4m3, 0x7E, plus(448)},
    // IEEE 754-2019, and bfloat16. The odd ones are pi, and a third.
    Decoded{&formats::f32, 0x80000000, minus(0)},
    Decoded{&formats::f32, 0x00000001, plus(1, -149)},
    Decoded{&formats::f32, 0x00400000, plus(1, -127)},
    Decoded{&formats::f32, 0x007FFFFF, plus(0x7FFFFF, -149)},
    Decoded{&formats::f32, 0x00800000, plus(1, -126)},
    Decoded{&formats::f32, 0x3E600000, plus(7, -5)},
    Decoded{&formats::f32, 0x3F800001, plus(0x800001, -23)},
    Decoded{&formats::f32, 0x40490FDB, plus(13176795, -22)},
    Decoded{&formats::f32, 0xC0000000, minus(2)},
    Decoded{&formats::f32, 0x42280000, plus(42)},
    Decoded{&formats::f32, 0x7F7FFFFF, plus(0xFFFFFF, 104)},
    Decoded{&formats::f32, 0x7F800000, infinity},
    Decoded{&formats::f32, 0xFF800000, minus_infinity},
    Decoded{&formats::f32, 0x7FC00000, nan},
    Decoded{&formats::f32, 0x7F800001, nan},
    Decoded{&formats::bf16, 0x0001, plus(1, -133)},
    Decoded{&formats::bf16, 0x3F80, plus(1)},
    Decoded{&formats::bf16, 0x4049, plus(201, -6)},
    Decoded{&formats::bf16, 0x7F7F, plus(255, 120)},
    Decoded{&formats::bf16, 0xFF80, minus_infinity},
    Decoded{&formats::f16, 0x0001, plus(1, -24)},
    Decoded{&formats::f16, 0x03FF, plus(1023, -24)},
    Decoded{&formats::f16, 0x3555, plus(1365, -12)},
    Decoded{&formats::f16, 0x7BFF, plus(65504)},
    Decoded{&formats::f16, 0x7C00, infinity},
    Decoded{&formats::f16, 0x7C01, nan},
    Decoded{&formats::f16, 0xC000, minus(2)},
};

// In every mode that needs no random bits, saturating.
inline constexpr std::array rounding_columns{
    Rounding::nearest_even,        Rounding::nearest_away,    Rounding::toward_zero,
    Rounding::toward_positive,     Rounding::toward_negative, Rounding::away_from_zero,
    Rounding::nearest_toward_zero, Rounding::to_odd,
};
struct Rounded {
    const ElementFormat* format;
    Number value;
    std::array<std::uint32_t, rounding_columns.size()> codes;
};

inline constexpr std::array rounded{
    // 1.8125 between 1.75 and 1.875, a hair below it and above it; 1.6875 below an even code.
    Rounded{&formats::e4m3, plus(29, -4), {0x3E, 0x3F, 0x3E, 0x3F, 0x3E, 0x3F, 0x3E, 0x3F}},
    Rounded{&formats::e4m3, minus(29, -4), {0xBE, 0xBF, 0xBE, 0xBE, 0xBF, 0xBF, 0xBE, 0xBF}},
    Rounded{&formats::e4m3, plus(1900543, -20), {0x3E, 0x3E, 0x3E, 0x3F, 0x3E, 0x3F, 0x3E, 0x3F}},
    Rounded{&formats::e4m3, plus(1900545, -20), {0x3F, 0x3F, 0x3E, 0x3F, 0x3E, 0x3F, 0x3F, 0x3F}},
    Rounded{&formats::e4m3, plus(27, -4), {0x3E, 0x3E, 0x3D, 0x3E, 0x3D, 0x3E, 0x3D, 0x3D}},
    // Into the next binade; among subnormals.
    Rounded{&formats::e4m3, plus(31, -4), {0x40, 0x40, 0x3F, 0x40, 0x3F, 0x40, 0x3F, 0x3F}},
    Rounded{&formats::e4m3, plus(1, -10), {0x00, 0x01, 0x00, 0x01, 0x00, 0x01, 0x00, 0x01}},
    Rounded{&formats::e4m3, minus(1, -10), {0x80, 0x81, 0x80, 0x80, 0x81, 0x81, 0x80, 0x81}},
    // An integer format has no -0.
    Rounded{&formats::int8, minus(1, -7), {0x00, 0xFF, 0x00, 0x00, 0xFF, 0xFF, 0x00, 0xFF}},
    // 3 between powers of two.
    Rounded{&formats::e8m0, plus(3), {128, 129, 128, 129, 128, 129, 128, 129}},
};

// In one mode alone, saturating.
struct RoundedOnce {
    const ElementFormat* format;
    Rounding rounding;
    Number value;
    std::uint32_t code;
};

inline constexpr std::array rounded_once{
    // Ties between an even code and an odd one; one value that is exact, and one far below all.
    RoundedOnce{&formats::e4m3, Rounding::nearest_even, plus(3, -10), 0x02},
    RoundedOnce{&formats::e4m3, Rounding::nearest_even, plus(1, -149), 0x00},
    RoundedOnce{&formats::e4m3, Rounding::away_from_zero, minus(1, -149), 0x81},
    RoundedOnce{&formats::e4m3, Rounding::nearest_even, plus(15, -10), 0x08},
    RoundedOnce{&formats::e4m3, Rounding::away_from_zero, minus(15, -3), 0xBF},
    RoundedOnce{&formats::e5m2, Rounding::nearest_even, plus(9, -3), 0x3C},
    RoundedOnce{&formats::e5m2, Rounding::nearest_even, plus(11, -3), 0x3E},
    RoundedOnce{&formats::e3m2, Rounding::nearest_even, plus(1, -5), 0x00},
    RoundedOnce{&formats::e3m2, Rounding::nearest_even, plus(26), 0x1E},
    RoundedOnce{&formats::e2m3, Rounding::nearest_even, plus(29, -2), 0x1E},
    RoundedOnce{&formats::e2m3, Rounding::toward_negative, minus(17, -4), 0x29},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(1, -2), 0x0},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(3, -2), 0x2},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(5, -2), 0x2},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(7, -2), 0x4},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(5), 0x6},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(5, -1), 0x4},
    RoundedOnce{&formats::e2m1, Rounding::nearest_even, plus(7, -1), 0x6},
    RoundedOnce{&formats::e2m1, Rounding::nearest_away, minus(5), 0xF},
    RoundedOnce{&formats::int8, Rounding::nearest_even, plus(3, -7), 0x02},
    RoundedOnce{&formats::e8m0, Rounding::nearest_even, plus(3, -1), 128},
    RoundedOnce{&formats::f32, Rounding::nearest_even, plus(0x1000001, -24), 0x3F800000},
    RoundedOnce{&formats::f32, Rounding::nearest_even, plus(1, -150), 0},
    RoundedOnce{&formats::bf16, Rounding::nearest_even, plus(257, -8), 0x3F80},
    RoundedOnce{&formats::f16, Rounding::nearest_even, plus(2049, -11), 0x3C00},
};

// Where the range ends, with both rules for overflow.
struct Overflown {
    const ElementFormat* format;
    Rounding rounding;
    Number value;
    std::uint32_t saturated;
    std::uint32_t overflown;
};

inline constexpr std::array overflown{
    // 464 is half way from 448 to where 480 would be; the next is 464 and 2^-15.
    Overflown{&formats::e4m3, Rounding::nearest_even, plus(464), 0x7E, 0x7E},
    Overflown{&formats::e4m3, Rounding::nearest_even, plus(15204353, -15), 0x7E, 0x7F},
    Overflown{&formats::e4m3, Rounding::nearest_even, minus(15204353, -15), 0xFE, 0xFF},
    Overflown{&formats::e4m3, Rounding::nearest_away, plus(464), 0x7E, 0x7F},
    Overflown{&formats::e4m3, Rounding::nearest_toward_zero, plus(464), 0x7E, 0x7E},
    Overflown{&formats::e4m3, Rounding::toward_positive, plus(449), 0x7E, 0x7F},
    Overflown{&formats::e4m3, Rounding::toward_negative, plus(449), 0x7E, 0x7E},
    Overflown{&formats::e4m3, Rounding::toward_negative, minus(449), 0xFE, 0xFF},
    Overflown{&formats::e4m3, Rounding::toward_zero, plus(1, 100), 0x7E, 0x7E},
    Overflown{&formats::e4m3, Rounding::to_odd, plus(1, 100), 0x7E, 0x7E},
    Overflown{&formats::e4m3, Rounding::away_from_zero, plus(449), 0x7E, 0x7F},
    Overflown{&formats::e4m3, Rounding::nearest_even, infinity, 0x7E, 0x7F},
    Overflown{&formats::e4m3, Rounding::nearest_even, minus_infinity, 0xFE, 0xFF},
    Overflown{&formats::e4m3, Rounding::nearest_even, nan, 0x7F, 0x7F},
    // 61440 is half way from 57344 to 65536.
    Overflown{&formats::e5m2, Rounding::nearest_even, plus(61439), 0x7B, 0x7B},
    Overflown{&formats::e5m2, Rounding::nearest_even, plus(61440), 0x7B, 0x7C},
    Overflown{&formats::e5m2, Rounding::toward_zero, plus(1, 127), 0x7B, 0x7B},
    Overflown{&formats::e5m2, Rounding::nearest_even, infinity, 0x7B, 0x7C},
    Overflown{&formats::e5m2, Rounding::nearest_even, minus_infinity, 0xFB, 0xFC},
    Overflown{&formats::e5m2, Rounding::nearest_even, nan, 0x7F, 0x7F},
    Overflown{&formats::e3m2, Rounding::nearest_even, plus(30), 0x1F, 0x1F},
    Overflown{&formats::e3m2, Rounding::nearest_even, minus_infinity, 0x3F, 0x3F},
    Overflown{&formats::e2m3, Rounding::nearest_even, infinity, 0x1F, 0x1F},
    Overflown{&formats::e2m1, Rounding::nearest_even, plus(7), 0x7, 0x7},
    Overflown{&formats::e2m1, Rounding::nearest_even, minus_infinity, 0xF, 0xF},
    Overflown{&formats::e2m1, Rounding::nearest_even, nan, 0x7, 0x7},
    Overflown{&formats::int8, Rounding::nearest_even, plus(2), 0x7F, 0x7F},
    Overflown{&formats::int8, Rounding::nearest_even, minus(2), 0x80, 0x80},
    Overflown{&formats::int8_symmetric, Rounding::nearest_even, minus(2), 0x81, 0x81},
    Overflown{&formats::e8m0, Rounding::nearest_even, plus(1, 128), 0xFE, 0xFF},
    Overflown{&formats::e8m0, Rounding::toward_positive, plus(3, 126), 0xFE, 0xFF},
    Overflown{&formats::e8m0, Rounding::nearest_even, plus(1, -128), 0x00, 0x00},
    Overflown{&formats::e8m0, Rounding::nearest_even, nan, 0xFF, 0xFF},
    Overflown{&formats::f32, Rounding::nearest_even, plus(67108861, 102), 0x7F7FFFFF, 0x7F7FFFFF},
    Overflown{&formats::f32, Rounding::nearest_even, plus(33554431, 103), 0x7F7FFFFF, 0x7F800000},
    Overflown{&formats::f16, Rounding::nearest_even, plus(65519), 0x7BFF, 0x7BFF},
    Overflown{&formats::f16, Rounding::nearest_even, plus(65520), 0x7BFF, 0x7C00},
    Overflown{&formats::bf16, Rounding::nearest_even, plus(1, 128), 0x7F7F, 0x7F80},
};

// A quarter of the way from 1 to 1.125: three of four random numbers stay, the largest goes up.
struct RandomlyRounded {
    const ElementFormat* format;
    Number value;
    RandomBits random;
    std::uint32_t code;
};

inline constexpr std::array randomly_rounded{
    RandomlyRounded{&formats::e4m3, plus(33, -5), {2, 2}, 0x38},
    RandomlyRounded{&formats::e4m3, plus(33, -5), {3, 2}, 0x39},
    RandomlyRounded{&formats::e4m3, plus(33, -5), {191, 8}, 0x38},
    RandomlyRounded{&formats::e4m3, plus(33, -5), {192, 8}, 0x39},
    RandomlyRounded{&formats::e4m3, minus(33, -5), {3, 2}, 0xB9},
    RandomlyRounded{&formats::e4m3, plus(15, -3), {3, 2}, 0x3F},
};

}  // namespace mx::known
