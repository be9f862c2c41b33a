// The algebra of the element formats: what rounding to any of them must satisfy, whatever its
// table says. Each property states the formats and roundings it holds for. Asks no device.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fuzz/generators.hpp"
#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"

namespace mx::fuzz {
namespace {

using fast::Unpacked;

constexpr ElementFormat f32 = formats::f32;

// Those of MX elements: E8M0 and the input types are no targets here.
ElementFormat draw_element_format() {
    const std::vector<BlockFormat> formats(mx_block_formats.begin(), mx_block_formats.end());
    return (*rc::gen::elementOf(formats)).element();
}

// All but the stochastic one, which hangs on random bits.
Rounding draw_rounding() {
    return *rc::gen::element(Rounding::nearest_even, Rounding::nearest_away,
                             Rounding::nearest_toward_zero, Rounding::toward_zero,
                             Rounding::toward_positive, Rounding::toward_negative,
                             Rounding::away_from_zero, Rounding::to_odd);
}

std::string shown(const ElementFormat& format, Rounding rounding, std::uint32_t input) {
    std::string name;
    for (const auto& [text, value] : roundings)
        if (value == rounding) name = text;
    char bits[16];
    std::snprintf(bits, sizeof bits, "%08x", input);
    return "mxcheck replay 'convert format=" + std::string(format.name) + " rounding=" + name +
           " overflow=saturate shape=1x1 data=bits:" + bits + "'";
}

Code rounded(const ElementFormat& format, Rounding rounding, Code input) {
    return fast::round(format, rounding, Overflow::saturate, fast::unpack(f32, input));
}

// A finite code's place among all the values of its format.
std::int64_t order_of(const ElementFormat& format, Code code) {
    const std::int64_t magnitude = format.magnitude(code);
    return format.is_negative(code) ? -magnitude : magnitude;
}

Code draw_number() {
    const Code code = *rc::gen::inRange(0, 2) == 0 ? draw_code(f32) : draw_finite(f32, 20);
    RC_PRE(!f32.is_nan(code));
    return code;
}

// Every format, every rounding, every code but NaN and, where it is left unused, 0x80.
RC_GTEST_PROP(Formats, ACodeRoundsToItself, ()) {
    const ElementFormat format = draw_element_format();
    const Code code = draw_code(format);
    RC_PRE(!format.is_nan(code));
    RC_PRE(format.magnitude(code) <= format.code_max_finite_negative() || format.is_infinity(code));
    const Rounding rounding = draw_rounding();
    const Code back = fast::round(format, rounding, Overflow::overflow, fast::unpack(format, code));
    RC_ASSERT(back.bits == code.bits);
}

// Every format and rounding: a larger input gives no smaller code.
RC_GTEST_PROP(Formats, RoundingIsMonotone, ()) {
    const ElementFormat format = draw_element_format();
    const Rounding rounding = draw_rounding();
    Code low = draw_number();
    Code high = *rc::gen::inRange(0, 2) == 0
                    ? draw_number()
                    : Code{low.bits + *rc::gen::inRange<std::uint32_t>(0, 1u << 21)};
    RC_PRE(!f32.is_nan(high));
    if (order_of(f32, low) > order_of(f32, high)) std::swap(low, high);
    RC_LOG() << shown(format, rounding, low.bits) << "\n" << shown(format, rounding, high.bits);
    RC_ASSERT(order_of(format, rounded(format, rounding, low)) <=
              order_of(format, rounded(format, rounding, high)));
}

// Every format and rounding: what was rounded is a value of the format.
RC_GTEST_PROP(Formats, RoundingTwiceIsRoundingOnce, ()) {
    const ElementFormat format = draw_element_format();
    const Rounding rounding = draw_rounding();
    const Code input = draw_number();
    const Code once = rounded(format, rounding, input);
    RC_LOG() << shown(format, rounding, input.bits);
    RC_ASSERT(fast::round(format, rounding, Overflow::saturate, fast::unpack(format, once)).bits ==
              once.bits);
}

// Every rounding, toward_positive with toward_negative for its mirror image; every format but
// int8, whose 0x80 has no positive fellow, where the input goes beyond -127/64.
RC_GTEST_PROP(Formats, RoundingKnowsNoSign, ()) {
    const ElementFormat format = draw_element_format();
    const Rounding rounding = draw_rounding();
    const Rounding mirrored = rounding == Rounding::toward_positive   ? Rounding::toward_negative
                              : rounding == Rounding::toward_negative ? Rounding::toward_positive
                                                                      : rounding;
    const Code input = draw_number();
    const Code right = rounded(format, rounding, input);
    const Code left = rounded(format, mirrored, Code{input.bits ^ f32.code_sign_mask()});
    RC_PRE(format.magnitude(right) <= format.code_max_finite());
    RC_PRE(format.magnitude(left) <= format.code_max_finite());
    RC_LOG() << shown(format, rounding, input.bits);
    RC_ASSERT(format.magnitude(left) == format.magnitude(right));
    if (!format.is_zero(right) || format.has_negative_zero())
        RC_ASSERT(format.is_negative(left) != format.is_negative(right));
}

// Formats with an exponent, results normal and not saturated before and after.
RC_GTEST_PROP(Formats, APowerOfTwoPassesThrough, ()) {
    const ElementFormat format = draw_element_format();
    RC_PRE(format.exponent_bits > 0);
    const Rounding rounding = draw_rounding();
    const Code input = draw_finite(f32, format.exponent_bias);
    const Unpacked value = fast::unpack(f32, input);
    Unpacked larger = value;
    larger.exponent += *rc::gen::inRange(1, format.exponent_bias + 1);
    const Code small = fast::round(format, rounding, Overflow::saturate, value);
    const Code large = fast::round(format, rounding, Overflow::saturate, larger);
    RC_PRE(format.magnitude(small) > format.code_mantissa_mask() + 1);
    RC_PRE(format.magnitude(large) < format.code_max_finite());
    const auto binades = static_cast<std::uint32_t>(larger.exponent - value.exponent);
    RC_LOG() << shown(format, rounding, input.bits) << " and 2^" << binades << " times that";
    RC_ASSERT(large.bits == small.bits + (binades << format.mantissa_bits));
}

// Every format: the directed roundings hold the nearest ones between them, one code apart.
RC_GTEST_PROP(Formats, DirectedRoundingsEncloseTheOthers, ()) {
    const ElementFormat format = draw_element_format();
    const Code input = draw_number();
    const auto at = [&](Rounding rounding) {
        return order_of(format, rounded(format, rounding, input));
    };
    const std::int64_t below = at(Rounding::toward_negative), above = at(Rounding::toward_positive);
    RC_LOG() << shown(format, Rounding::nearest_even, input.bits);
    RC_ASSERT(above - below <= 1 && above >= below);
    for (const Rounding rounding :
         {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero, Rounding::to_odd})
        RC_ASSERT(below <= at(rounding) && at(rounding) <= above);
}

// Every format, rounding and overflow: both oracles give one code.
RC_GTEST_PROP(Formats, TheOraclesAgree, ()) {
    const ElementFormat format = draw_element_format();
    const Rounding rounding = draw_rounding();
    const Overflow overflow = *rc::gen::element(Overflow::saturate, Overflow::overflow);
    const Code input = draw_code(f32);
    RC_LOG() << shown(format, rounding, input.bits);
    RC_ASSERT(fast::round(format, rounding, overflow, fast::unpack(f32, input)).bits ==
              exact::round(format, rounding, overflow, exact::decode(f32, input)).bits);
}

// Stochastic: with random bits all 0 it is toward_zero, and more bits never give a smaller one.
RC_GTEST_PROP(Formats, MoreRandomBitsRoundFurtherAway, ()) {
    const ElementFormat format = draw_element_format();
    const Code input = draw_number();
    const int count = *rc::gen::element(8, 16, 32);
    const std::uint32_t all = ~0u >> (32 - count);
    std::uint32_t few = *any_bits<std::uint32_t>() & all, many = *any_bits<std::uint32_t>() & all;
    if (few > many) std::swap(few, many);
    const auto magnitude = [&](std::uint32_t bits) {
        return format.magnitude(fast::round(format, Rounding::stochastic, Overflow::saturate,
                                            fast::unpack(f32, input), {bits, count}));
    };
    RC_LOG() << "input " << input.bits << ", " << count << " bits: " << few << " and " << many;
    RC_ASSERT(magnitude(few) <= magnitude(many));
    RC_ASSERT(magnitude(0) == format.magnitude(rounded(format, Rounding::toward_zero, input)));
}

}  // namespace
}  // namespace mx::fuzz
