// The shared scale of a block from its amax, in the steps of spec/quantizer.hpp.
// Proved by reference/proof/prove_scale.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/round.hpp"

namespace mx::fast {

// Rows of the tables are copied into local constants here and in the proofs: compilers fold those
// into the code, but load the fields of a table's row again for every value.

// The binary32 code of fl32(1 / largest element value).
//
// 1 / (m * 2^e) = (2^60 / m) * 2^(-60 - e). The quotient keeps more than 50 bits; a sticky lowest
// bit stands for the rest of the division, so the one rounding to 24 bits sees what it needs.
MX_FOLDED constexpr Code reciprocal_of_largest(const ElementFormat& element) {
    const Unpacked largest = unpack(element, Code{element.code_max_finite()});
    const std::uint64_t one = std::uint64_t{1} << 60;
    const std::uint64_t quotient = one / largest.significand;
    const std::uint64_t sticky = one % largest.significand != 0 ? 1 : 0;
    constexpr ElementFormat f32 = formats::f32;
    return round(f32, Rounding::nearest_even, Overflow::overflow,
                 {Kind::finite, false, -61 - largest.exponent, quotient * 2 + sticky});
}

static_assert(reciprocal_of_largest(formats::e4m3).bits == 0x3B124925);
static_assert(reciprocal_of_largest(formats::e5m2).bits == 0x37924925);

// binary32 with a shorter mantissa: where even_amax rounds the amax.
MX_FOLDED constexpr ElementFormat shortened_f32(int mantissa_bits) {
    ElementFormat format = formats::f32;
    format.mantissa_bits = mantissa_bits;
    return format;
}

MX_FOLDED constexpr Unpacked rounded_value(const ElementFormat& format, Rounding rounding,
                                           const Unpacked& value) {
    return unpack(format, round(format, rounding, Overflow::overflow, value));
}

// fl32(amax * fl32(1 / largest element value)). 24 bits by 24 bits fit the 64-bit significand, and
// a factor below one cannot leave the range of binary32.
MX_FOLDED constexpr Unpacked ratio_to_largest(const ElementFormat& element, const Unpacked& amax) {
    if (amax.kind != Kind::finite || amax.significand == 0) return amax;
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked reciprocal = unpack(f32, reciprocal_of_largest(element));
    const Units ratio = round_to_units(f32, Rounding::nearest_even,
                                       {Kind::finite, false, amax.exponent + reciprocal.exponent,
                                        amax.significand * reciprocal.significand});
    return {Kind::finite, false, ratio.quantum, ratio.count};
}

enum class Side { toward_zero, away_from_zero };

// Half the distance from a whole number to the next binary32 value on one side is 2^-s; this is s.
// Beside a power of two the side toward zero is the finer one.
MX_FOLDED constexpr int half_gap_digits(int whole, Side side) {
    const std::uint64_t magnitude = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
    const bool is_power = (magnitude & (magnitude - 1)) == 0;
    return 25 - bit_width(magnitude) + (is_power && side == Side::toward_zero ? 1 : 0);
}

// floor(ln 2 * 2^exponent), for an exponent of at most 31: 0xB17217F7 = floor(ln 2 * 2^32).
MX_FOLDED constexpr std::uint32_t ln2_times_power(int exponent) {
    constexpr std::uint64_t ln2 = 0xB17217F7;
    return exponent < 0 ? 0 : static_cast<std::uint32_t>(ln2 >> (32 - exponent));
}

// x = 2^top * m, m from 1 to 2 with 23 digits: is log2(x), rounded to nearest in binary32, the next
// whole number above? x lies c units of 2^-24 below 2^(top+1), so its logarithm c * 2^-24 / ln 2
// below; it rounds up if that is under 2^-s, so for c up to ln 2 * 2^(24-s). The terms dropped
// here are below 2^-17 of c, and no such product lies that close to a whole number.
MX_FOLDED constexpr bool log2f_rounds_up(int top, std::uint32_t mantissa) {
    const int whole = top + 1;
    if (whole == 0) return false;
    const std::uint32_t units = (1u << 23) - mantissa;
    const Side below = whole > 0 ? Side::toward_zero : Side::away_from_zero;
    return units <= ln2_times_power(24 - half_gap_digits(whole, below));
}

// ... or the whole number below? x lies c units of 2^-23 above 2^top.
MX_FOLDED constexpr bool log2f_rounds_down(int top, std::uint32_t mantissa) {
    if (top == 0) return false;
    const Side above = top < 0 ? Side::toward_zero : Side::away_from_zero;
    return mantissa <= ln2_times_power(23 - half_gap_digits(top, above));
}

// The leading 24 bits of a value of at most 24: 2^top * 1.mantissa. One bit more can only be a
// carry, with zeros below it.
struct Normal {
    int top;
    std::uint32_t mantissa;
};
MX_FOLDED constexpr Normal normal_of(const Unpacked& value) {
    const int width = bit_width(value.significand);
    const std::uint64_t normal =
        width <= 24 ? value.significand << (24 - width) : value.significand >> (width - 24);
    return {value.exponent + width - 1, static_cast<std::uint32_t>(normal) & 0x7FFFFF};
}

// A value beside a power of two whose log2 in binary32 is a whole number is taken for that power.
MX_FOLDED constexpr Unpacked with_whole_log2f(const Unpacked& value) {
    if (value.kind != Kind::finite || value.significand == 0) return value;
    const auto [top, mantissa] = normal_of(value);
    if (mantissa == 0) return value;
    if (log2f_rounds_down(top, mantissa)) return {Kind::finite, false, top, 1};
    if (log2f_rounds_up(top, mantissa)) return {Kind::finite, false, top + 1, 1};
    return value;
}

// As above, but the exponent ends at 127.
MX_FOLDED constexpr Unpacked with_whole_log2f_to_2to127(const Unpacked& value) {
    const Unpacked whole = with_whole_log2f(value);
    if (whole.kind != Kind::finite || whole.significand == 0) return whole;
    const bool is_beyond = whole.exponent + bit_width(whole.significand) > 128;
    return is_beyond ? Unpacked{Kind::finite, false, 127, 1} : whole;
}

// x = 2^top * m, m from 1 to 2 with 23 digits: is round(log2(x)), the logarithm rounded to binary32
// and a tie taken away from zero, the whole number above? m is compared with sqrt(2) times 2^d,
// where d is half the distance from top + 1/2 to the next binary32 value: to the side of zero, for
// the tie belongs to the other side. 2^d = 1 + d ln 2 to within 2^-36, and no sum comes that close
// to a whole number of units of 2^-23.
MX_FOLDED constexpr bool log2f_rounds_to_above(int top, std::uint32_t mantissa) {
    const int doubled = 2 * top + 1;  // top + 1/2 has this many halves
    const bool is_positive = doubled > 0;
    const int digits = bit_width(static_cast<std::uint64_t>(is_positive ? doubled : -doubled));
    // The tie lies in [2^(digits-2), 2^(digits-1)), so that half the distance toward zero is
    // 2^(digits-26), and half of that below 1/2, which is a power of two.
    const int gap_exponent = digits - 26 - (digits == 1 ? 1 : 0);
    constexpr std::uint64_t sqrt2 = 0xB504F333F9DE6484;      // sqrt(2) * 2^63
    constexpr std::uint64_t sqrt2_ln2 = 0x7D79194DEAE41AB8;  // sqrt(2) * ln(2) * 2^63
    const std::uint64_t moved = sqrt2_ln2 >> -gap_exponent;
    const std::uint64_t border = is_positive ? sqrt2 - moved : sqrt2 + moved;
    const std::uint64_t value = (std::uint64_t{1} << 63) + (std::uint64_t{mantissa} << 40);
    return value > border;
}

MX_FOLDED constexpr Unpacked shortened(AmaxRounding rounding, const ElementFormat& element,
                                       const Unpacked& amax) {
    switch (rounding) {
        case AmaxRounding::none:
            return amax;
        case AmaxRounding::nearest_away:
            return rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away,
                                 amax);
        case AmaxRounding::nearest_toward_zero:
            return rounded_value(shortened_f32(element.mantissa_bits),
                                 Rounding::nearest_toward_zero, amax);
        case AmaxRounding::one_bit_away:
            return rounded_value(shortened_f32(1), Rounding::nearest_away, amax);
        case AmaxRounding::nearest_away_to_2to128: {
            const Unpacked rounded =
                rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away, amax);
            const bool is_beyond = rounded.kind == Kind::infinity && amax.kind == Kind::finite;
            return is_beyond ? Unpacked{Kind::finite, false, 128, 1} : rounded;
        }
        case AmaxRounding::whole_log2f:
            return with_whole_log2f(amax);
        case AmaxRounding::whole_log2f_to_2to127:
            return with_whole_log2f_to_2to127(amax);
    }
    return amax;
}

// fl32(amax / largest element value). The quotient keeps more than 30 bits, the sticky lowest bit
// included.
MX_FOLDED constexpr Unpacked quotient_by_largest(const ElementFormat& element,
                                                 const Unpacked& amax) {
    if (amax.kind != Kind::finite || amax.significand == 0) return amax;
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked largest = unpack(element, Code{element.code_max_finite()});
    const int width = bit_width(amax.significand);
    const std::uint64_t dividend = amax.significand << (61 - width);
    const std::uint64_t sticky = dividend % largest.significand != 0 ? 1 : 0;
    const Units ratio =
        round_to_units(f32, Rounding::nearest_even,
                       {Kind::finite, false, amax.exponent - (61 - width) - largest.exponent - 1,
                        dividend / largest.significand * 2 + sticky});
    return {Kind::finite, false, ratio.quantum, ratio.count};
}

// fl32(amax / 2^emax). It may round to zero.
MX_FOLDED constexpr Unpacked over_emax_in_f32(const ElementFormat& element, const Unpacked& amax) {
    if (amax.kind != Kind::finite || amax.significand == 0) return amax;
    constexpr ElementFormat f32 = formats::f32;
    Unpacked moved = amax;
    moved.exponent -= element.exponent_max();
    const Units ratio = round_to_units(f32, Rounding::nearest_even, moved);
    return {Kind::finite, false, ratio.quantum, ratio.count};
}

MX_FOLDED constexpr Unpacked ratio_of(ScaleRatio ratio, const ElementFormat& element,
                                      const Unpacked& amax) {
    switch (ratio) {
        case ScaleRatio::over_emax: {
            Unpacked moved = amax;
            moved.exponent -= element.exponent_max();
            return moved;
        }
        case ScaleRatio::over_emax_f32:
            return over_emax_in_f32(element, amax);
        case ScaleRatio::times_reciprocal:
            return ratio_to_largest(element, amax);
        case ScaleRatio::times_reciprocal_flushed: {
            const Unpacked product = ratio_to_largest(element, amax);
            if (product.kind != Kind::finite || product.significand == 0) return product;
            const int top = product.exponent + bit_width(product.significand) - 1;
            return top < -126 ? Unpacked{} : product;
        }
        case ScaleRatio::divided:
            return quotient_by_largest(element, amax);
        case ScaleRatio::none:
        case ScaleRatio::times_reciprocal_over_tensor:
        case ScaleRatio::divided_over_tensor:
        case ScaleRatio::over_tensor_divided:
        case ScaleRatio::divided_times_tensor:
        case ScaleRatio::times_scaled_tensor:
        case ScaleRatio::max_over_amax:
        case ScaleRatio::tensor:
            return amax;
    }
    return amax;
}

// The larger of a value that is not negative and a positive binary32 number, 0 for none. Both are
// compared with their leading bits at bit 61.
MX_FOLDED constexpr Unpacked at_least(const Unpacked& value, std::uint32_t f32_code) {
    if (f32_code == 0 || value.kind != Kind::finite) return value;
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked least = unpack(f32, Code{f32_code});
    if (value.significand == 0) return least;
    const int value_shift = 62 - bit_width(value.significand);
    const int least_shift = 62 - bit_width(least.significand);
    const int value_top = value.exponent - value_shift;
    const int least_top = least.exponent - least_shift;
    const bool is_less = value_top != least_top
                             ? value_top < least_top
                             : value.significand << value_shift < least.significand << least_shift;
    return is_less ? least : value;
}

// The exponent of the power of two that a positive ratio of at most 24 bits is rounded to, without
// any limit.
//
//   ratio  2^top * 1.mmm...   the 23 digits m are compared with 0, a half, or sqrt(2) - 1
MX_FOLDED constexpr int rounded_exponent(ScaleRounding rounding, const Unpacked& ratio) {
    const auto [top, mantissa] = normal_of(ratio);
    constexpr std::uint32_t half = 0x400000;
    constexpr std::uint32_t below_sqrt2 = 0x3504F3;  // floor((sqrt(2) - 1) * 2^23)
    if (mantissa == 0) return top;
    switch (rounding) {
        case ScaleRounding::toward_zero:
            return top;
        case ScaleRounding::toward_positive:
            return top + 1;
        case ScaleRounding::nearest_even:
            return mantissa > half || (mantissa == half && top % 2 == 0) ? top + 1 : top;
        case ScaleRounding::nearest_away:
            return mantissa >= half ? top + 1 : top;
        case ScaleRounding::nearest_log2:
            return mantissa > below_sqrt2 ? top + 1 : top;
        case ScaleRounding::nearest_log2f:
            return log2f_rounds_to_above(top, mantissa) ? top + 1 : top;
        case ScaleRounding::ceil_log2f:
            return log2f_rounds_down(top, mantissa) ? top : top + 1;
    }
    return top;
}

// The byte before the quantizer's limits; not below 0, for no power is below 2^-127.
MX_FOLDED constexpr int rounded_byte(const ScaleCast& cast, const Unpacked& ratio) {
    const int top = ratio.exponent + bit_width(ratio.significand) - 1;
    if (top < -126) {
        if (cast.underflow == ScaleUnderflow::any_bit_counts) return 1;
        if (cast.underflow == ScaleUnderflow::above_2tom127) {
            const bool is_power = (ratio.significand & (ratio.significand - 1)) == 0;
            return top == -127 && !is_power ? 1 : 0;
        }
    }
    const int byte = rounded_exponent(cast.rounding, ratio) + formats::e8m0.exponent_bias;
    return byte < 0 ? 0 : byte;
}

// Any value of at most 24 bits as an E8M0 byte, the way a quantizer casts its ratio.
MX_FOLDED constexpr Code cast_to_scale(const ScaleCast& cast, const Unpacked& value) {
    if (value.kind == Kind::nan) return Code{cast.nan};
    if (value.kind == Kind::finite && value.significand == 0) return Code{cast.zero};
    if (value.negative && cast.negative == NegativeScale::zero_byte) return Code{0};
    if (value.negative && cast.negative == NegativeScale::zero_byte_if_finite)
        return Code{value.kind == Kind::infinity ? cast.infinity : std::uint8_t{0}};
    if (value.negative && cast.negative == NegativeScale::nan_byte) return Code{cast.nan};
    if (value.kind == Kind::infinity) return Code{cast.infinity};
    const int byte = rounded_byte(cast, value);
    if (byte > cast.byte_max) return Code{cast.overflow};
    return Code{static_cast<std::uint32_t>(byte < cast.byte_min ? cast.byte_min : byte)};
}

// The ratio that becomes the scale, from an amax that is not negative.
MX_FOLDED constexpr Unpacked scale_argument(const Quantizer& quantizer,
                                            const ElementFormat& element, const Unpacked& amax) {
    const bool is_zero = amax.kind == Kind::finite && amax.significand == 0;
    if (is_zero && quantizer.zero_block == ZeroBlock::one_over_emax)
        return {Kind::finite, false, -element.exponent_max(), 1};
    const bool is_number = amax.kind == Kind::infinity &&
                           quantizer.infinity_in_block == InfinityInBlock::counts_as_2to128;
    const bool is_replaced = is_zero && quantizer.zero_block == ZeroBlock::as_2tom126;
    const Unpacked seen = is_replaced ? Unpacked{Kind::finite, false, -126, 1}
                          : is_number ? Unpacked{Kind::finite, false, 128, 1}
                                      : amax;
    const Unpacked raised =
        at_least(shortened(quantizer.amax_rounding, element, seen), quantizer.amax_min);
    return at_least(ratio_of(quantizer.scale_ratio, element, raised), quantizer.ratio_min);
}

MX_FOLDED constexpr Code encode_scale(const Quantizer& quantizer, const BlockFormat& format,
                                      const Unpacked& amax) {
    return cast_to_scale(quantizer.scale_cast, scale_argument(quantizer, format.element(), amax));
}

}  // namespace mx::fast
