// binary32 arithmetic on integers: product, quotient, sum and fused multiply-add, each rounded once
// to nearest even.
// Proved by reference/proof/prove_real_scale.cpp.
//
// These functions and those of recipes are called, not folded into their callers like the rest of
// fast/: the scale of a block alone takes a dozen roundings.
#pragma once

#include <cstdint>

#include "reference/fast/round.hpp"

namespace mx::fast {

// Between the least normal number and the highest binade nothing underflows or overflows, and no
// code need be made.
MX_HOST_DEVICE constexpr bool is_well_inside(const ElementFormat& format, const Unpacked& value) {
    if (value.kind != Kind::finite || value.significand == 0) return false;
    const int leading = value.exponent + bit_width(value.significand) - 1;
    return leading >= format.exponent_min() && leading < format.exponent_max();
}

MX_HOST_DEVICE constexpr Unpacked rounded_in(const ElementFormat& format, const Unpacked& value) {
    if (is_well_inside(format, value)) {
        const Units units = round_to_units(format, Rounding::nearest_even, value);
        const int carry = static_cast<int>(units.count >> (format.mantissa_bits + 1));
        return {Kind::finite, value.negative, units.quantum + carry, units.count >> carry};
    }
    return unpack(format, round(format, Rounding::nearest_even, Overflow::overflow, value));
}

// The same, but infinity becomes the largest value: fminf(x, largest) after a rounding that may
// have overflowed.
MX_HOST_DEVICE constexpr Unpacked rounded_within(const ElementFormat& format,
                                                 const Unpacked& value) {
    return unpack(format, round(format, Rounding::nearest_even, Overflow::saturate, value));
}

MX_HOST_DEVICE constexpr bool is_zero(const Unpacked& value) {
    return value.kind == Kind::finite && value.significand == 0;
}

// What no rounding decides: NaN, Inf and zero. `is_special` false leaves the arithmetic to the
// caller.
struct SpecialResult {
    bool is_special;
    Unpacked value;
};

MX_HOST_DEVICE constexpr SpecialResult special_product(const Unpacked& left,
                                                       const Unpacked& right) {
    if (left.kind == Kind::finite && right.kind == Kind::finite) return {false, {}};
    const bool negative = left.negative != right.negative;
    const bool is_nan =
        left.kind == Kind::nan || right.kind == Kind::nan || is_zero(left) || is_zero(right);
    if (is_nan) return {true, {Kind::nan, false, 0, 0}};
    return {true, {Kind::infinity, negative, 0, 0}};
}

// 24 bits by 24 bits are 48.
MX_HOST_DEVICE constexpr Unpacked exact_product(const Unpacked& left, const Unpacked& right) {
    const SpecialResult special = special_product(left, right);
    if (special.is_special) return special.value;
    return {Kind::finite, left.negative != right.negative, left.exponent + right.exponent,
            left.significand * right.significand};
}

MX_HOST_DEVICE constexpr Unpacked product(const Unpacked& left, const Unpacked& right) {
    constexpr ElementFormat f32 = formats::f32;
    return rounded_in(f32, exact_product(left, right));
}

MX_HOST_DEVICE constexpr SpecialResult special_quotient(const Unpacked& dividend,
                                                        const Unpacked& divisor) {
    const bool negative = dividend.negative != divisor.negative;
    const bool is_nan = dividend.kind == Kind::nan || divisor.kind == Kind::nan ||
                        (dividend.kind == Kind::infinity && divisor.kind == Kind::infinity) ||
                        (is_zero(dividend) && is_zero(divisor));
    if (is_nan) return {true, {Kind::nan, false, 0, 0}};
    if (dividend.kind == Kind::infinity || is_zero(divisor))
        return {true, {Kind::infinity, negative, 0, 0}};
    if (divisor.kind == Kind::infinity || is_zero(dividend))
        return {true, {Kind::finite, negative, 0, 0}};
    return {false, {}};
}

// The dividend is moved up to 61 bits, so the quotient by at most 24 bits keeps 37 or more. The
// lowest bit of what is rounded stands for the rest of the division.
//
//   dividend   1xxxxxxx 0..0      61 bits
//   quotient   1xxx..x r          37 bits or more, r = 1 where a remainder is left
MX_HOST_DEVICE constexpr Unpacked quotient(const Unpacked& dividend, const Unpacked& divisor) {
    const SpecialResult special = special_quotient(dividend, divisor);
    if (special.is_special) return special.value;
    constexpr ElementFormat f32 = formats::f32;
    const int shift = 61 - bit_width(dividend.significand);
    const std::uint64_t high = dividend.significand << shift;
    const std::uint64_t whole = high / divisor.significand;
    const std::uint64_t sticky = high % divisor.significand != 0 ? 1 : 0;
    return rounded_in(f32, {Kind::finite, dividend.negative != divisor.negative,
                            dividend.exponent - shift - divisor.exponent - 1, whole * 2 + sticky});
}

// A significand of at most 48 bits moved so that its leading bit is bit 59.
MX_HOST_DEVICE constexpr Unpacked raised(Unpacked value) {
    const int shift = 60 - bit_width(value.significand);
    value.significand <<= shift;
    value.exponent -= shift;
    return value;
}

// Drops the low `shift` bits, any shift >= 0, of a significand below 2^62; one bit is appended that
// says whether any of them was 1. A shift of 63 keeps nothing and stands for all larger ones.
MX_HOST_DEVICE constexpr std::uint64_t dropped_with_sticky(std::uint64_t significand, int shift) {
    const int bounded = shift < 63 ? shift : 63;
    const std::uint64_t kept = significand >> bounded;
    return kept * 2 + (kept << bounded != significand ? 1 : 0);
}

// Two numbers that are not zero, the first at least as large as the second. The smaller one is
// moved down to the larger one's place; a lowest bit of 1 stands for what falls off, and something
// only falls off where the two leading bits are 12 places apart, so no cancellation brings that bit
// near the 24 that are kept.
MX_HOST_DEVICE constexpr Unpacked sum_of_ordered(const ElementFormat& format,
                                                 const Unpacked& larger, const Unpacked& smaller) {
    const std::uint64_t low =
        dropped_with_sticky(smaller.significand, larger.exponent - smaller.exponent);
    const std::uint64_t high = larger.significand * 2;
    const std::uint64_t total = larger.negative == smaller.negative ? high + low : high - low;
    if (total == 0) return {Kind::finite, false, 0, 0};
    return rounded_in(format, {Kind::finite, larger.negative, larger.exponent - 1, total});
}

// The sum of two numbers of at most 48 significant bits, rounded once in a format of at most 24.
MX_HOST_DEVICE constexpr Unpacked sum_in(const ElementFormat& format, const Unpacked& left,
                                         const Unpacked& right) {
    if (left.kind == Kind::nan || right.kind == Kind::nan) return {Kind::nan, false, 0, 0};
    if (left.kind == Kind::infinity && right.kind == Kind::infinity &&
        left.negative != right.negative)
        return {Kind::nan, false, 0, 0};
    if (left.kind == Kind::infinity) return left;
    if (right.kind == Kind::infinity) return right;
    if (is_zero(left) && is_zero(right))
        return {Kind::finite, left.negative && right.negative, 0, 0};
    if (is_zero(left)) return rounded_in(format, right);
    if (is_zero(right)) return rounded_in(format, left);
    const Unpacked a = raised(left), b = raised(right);
    const bool swaps =
        a.exponent != b.exponent ? a.exponent < b.exponent : a.significand < b.significand;
    return swaps ? sum_of_ordered(format, b, a) : sum_of_ordered(format, a, b);
}

MX_HOST_DEVICE constexpr Unpacked sum(const Unpacked& left, const Unpacked& right) {
    constexpr ElementFormat f32 = formats::f32;
    return sum_in(f32, left, right);
}

MX_HOST_DEVICE constexpr Unpacked fused_multiply_add(const Unpacked& left, const Unpacked& right,
                                                     const Unpacked& addend) {
    return sum(exact_product(left, right), addend);
}

}  // namespace mx::fast
