// From an integer significand and a power of two to a code, in any rounding mode.
// Proved by reference/proof/prove_round.cpp.
#pragma once

#include "reference/fast/decode.hpp"
#include "reference/spec/dialect.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::fast {

MX_FOLDED constexpr bool goes_away_from_zero(Rounding rounding, std::uint64_t remainder,
                                             bool negative, bool kept_is_odd) {
    if (remainder == 0) return false;
    switch (rounding) {
        case Rounding::nearest_even:
            return remainder > remainder_half || (remainder == remainder_half && kept_is_odd);
        case Rounding::nearest_away:
            return remainder >= remainder_half;
        case Rounding::toward_zero:
            return false;
        case Rounding::toward_positive:
            return !negative;
        case Rounding::toward_negative:
            return negative;
        case Rounding::away_from_zero:
            return true;
    }
    return false;
}

MX_FOLDED constexpr std::uint32_t code_of_overflow(const ElementFormat& format, Overflow overflow) {
    if (overflow == Overflow::saturate) return format.code_max_finite();
    return format.has_infinity() ? format.code_infinity() : format.code_nan();
}

// A magnitude cut to a format's precision and rounded: count * 2^quantum, the range not yet
// checked.
struct Units {
    std::uint64_t count;
    int quantum;
};

// Rounds a finite significand * 2^exponent, the significand not 0, to the format's precision at its
// size. A carry makes the count one bit longer and needs no other care.
MX_FOLDED constexpr Units round_to_units(const ElementFormat& format, Rounding rounding,
                                         const Unpacked& value) {
    const int top = value.exponent + bit_width(value.significand) - 1;
    const int quantum_min = format.quantum_exponent_min();
    const int quantum_of_top = top - format.mantissa_bits;
    const int quantum = quantum_of_top < quantum_min ? quantum_min : quantum_of_top;
    const int shift = quantum - value.exponent;
    const Kept kept =
        shift >= 0 ? drop_low_bits(value.significand, shift) : Kept{value.significand << -shift, 0};
    const bool away =
        goes_away_from_zero(rounding, kept.remainder, value.negative, (kept.significand & 1) != 0);
    return {kept.significand + (away ? 1 : 0), quantum};
}

// The magnitude code of the same.
//
// Codes count units: within a binade each code is one unit, and each binade above the lowest starts
// 2^mantissa_bits codes later. A carry out of the mantissa therefore lands on the next binade's
// first code by itself.
MX_FOLDED constexpr std::uint32_t round_magnitude(const ElementFormat& format, Rounding rounding,
                                                  Overflow overflow, const Unpacked& value) {
    const int quantum_min = format.quantum_exponent_min();
    // Without a zero, what lies below the smallest value is taken to it.
    if (!format.has_zero() && value.exponent + bit_width(value.significand) <= quantum_min)
        return 0;
    const Units units = round_to_units(format, rounding, value);
    const std::uint64_t hidden_bit = std::uint64_t{1} << format.mantissa_bits;
    const std::uint64_t binades = static_cast<std::uint64_t>(units.quantum - quantum_min);
    const std::uint64_t code =
        binades * hidden_bit + units.count - (format.has_zero() ? 0 : hidden_bit);
    if (code <= format.code_max_finite()) return static_cast<std::uint32_t>(code);
    const bool leaves_range =
        goes_away_from_zero(rounding, remainder_half + 1, value.negative, false);
    return leaves_range ? code_of_overflow(format, overflow) : format.code_max_finite();
}

// As exact::round: NaN becomes code_nan() with sign 0.
MX_FOLDED constexpr Code round(const ElementFormat& format, Rounding rounding, Overflow overflow,
                               const Unpacked& value) {
    if (value.kind == Kind::nan) return Code{format.code_nan()};
    const std::uint32_t sign = value.negative ? format.code_sign_mask() : 0;
    if (value.kind == Kind::infinity) return Code{sign | code_of_overflow(format, overflow)};
    if (value.significand == 0) return Code{sign};
    return Code{sign | round_magnitude(format, rounding, overflow, value)};
}

// As a dialect writes an element: its rounding, overflow, NaN code and sign of zero.
MX_FOLDED constexpr Code round_element(const Dialect& dialect, const ElementFormat& format,
                                       const Unpacked& value) {
    if (value.kind == Kind::nan && dialect.nan_code == NanCode::sign_kept)
        return Code{(value.negative ? format.code_sign_mask() : 0) | format.code_nan()};
    const Code code = round(format, dialect.element_rounding, dialect.element_overflow, value);
    if (format.is_zero(code) && dialect.sign_of_zero == SignOfZero::dropped) return Code{0};
    return code;
}

}  // namespace mx::fast
