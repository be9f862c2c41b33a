// See round.hpp.
#include "reference/exact/round.hpp"

#include <algorithm>

namespace mx::exact {
namespace {

// The largest finite code whose value is at most `magnitude`, which is not below the smallest
// value. The exponent gives a guess; that the guess is right is checked by the values of its
// neighbours.
std::uint32_t code_at_or_below(const ElementFormat& format, const Rational& magnitude) {
    if (magnitude >= magnitude_of(format, format.code_max_finite()))
        return format.code_max_finite();
    if (magnitude == 0) return 0;
    const int exponent = std::max(floor_log2(magnitude), format.exponent_min());
    const Rational in_units = magnitude / power_of_two(exponent - format.mantissa_bits);
    const Integer units = numerator(in_units) / denominator(in_units);
    const std::uint32_t hidden_bit = format.code_mantissa_mask() + 1;
    const std::uint32_t binade = static_cast<std::uint32_t>(exponent - format.exponent_min());
    // In the lowest binade of a format with zero, units count from zero; elsewhere from hidden_bit.
    const std::uint32_t code = binade * hidden_bit + static_cast<std::uint32_t>(units) -
                               (format.has_zero() ? 0 : hidden_bit);
    MX_ASSERT(magnitude_of(format, code) <= magnitude);
    MX_ASSERT(magnitude < magnitude_of(format, code + 1));
    return code;
}

Position position_between(const Rational& below, const Rational& above, const Rational& magnitude) {
    if (magnitude == below) return Position::exact;
    const Rational to_below = magnitude - below;
    const Rational to_above = above - magnitude;
    if (to_below < to_above) return Position::below_half;
    return to_below == to_above ? Position::half : Position::above_half;
}

// Does the mode choose the neighbour away from zero?
bool goes_away_from_zero(Rounding rounding, Position position, bool negative, bool below_is_odd) {
    if (position == Position::exact) return false;
    switch (rounding) {
        case Rounding::nearest_even:
            return position == Position::above_half || (position == Position::half && below_is_odd);
        case Rounding::nearest_away:
            return position != Position::below_half;
        case Rounding::toward_zero:
            return false;
        case Rounding::toward_positive:
            return !negative;
        case Rounding::toward_negative:
            return negative;
        case Rounding::away_from_zero:
            return true;
    }
    MX_ASSERT(false && "a rounding mode without a definition");
    return false;
}

std::uint32_t code_of_overflow(const ElementFormat& format, Overflow overflow) {
    if (overflow == Overflow::saturate) return format.code_max_finite();
    return format.has_infinity() ? format.code_infinity() : format.code_nan();
}

Code with_sign(const ElementFormat& format, std::uint32_t magnitude_code, bool negative) {
    MX_ASSERT(!negative || format.sign_bits == 1);
    return Code{magnitude_code | (negative ? format.code_sign_mask() : 0)};
}

}  // namespace

Rounded round_with_reasons(const ElementFormat& format, Rounding rounding, Overflow overflow,
                           const Value& value) {
    Rounded result;
    if (value.is_nan()) {
        result.code = Code{format.code_nan()};
        return result;
    }
    if (value.is_infinity()) {
        result.overflowed = true;
        result.code = with_sign(format, code_of_overflow(format, overflow), value.negative);
        return result;
    }
    if (value.magnitude < magnitude_of(format, 0)) {
        result.underflowed = true;
        result.code = with_sign(format, 0, value.negative);
        return result;
    }
    const std::uint32_t below = code_at_or_below(format, value.magnitude);
    result.code_below = below;
    result.value_below = magnitude_of(format, below);
    result.value_above = magnitude_of(format, below + 1);
    // Past the next value of the unbounded format, every mode that can leave the range does.
    result.position =
        value.magnitude >= result.value_above
            ? Position::above_half
            : position_between(result.value_below, result.value_above, value.magnitude);
    const bool away =
        goes_away_from_zero(rounding, result.position, value.negative, (below & 1) != 0);
    const std::uint32_t chosen = away ? below + 1 : below;
    result.overflowed = chosen > format.code_max_finite();
    result.code = with_sign(format, result.overflowed ? code_of_overflow(format, overflow) : chosen,
                            value.negative);
    return result;
}

Code round(const ElementFormat& format, Rounding rounding, Overflow overflow, const Value& value) {
    return round_with_reasons(format, rounding, overflow, value).code;
}

Code round_element(const Dialect& dialect, const ElementFormat& format, const Value& value) {
    if (value.is_nan() && dialect.nan_code == NanCode::sign_kept)
        return with_sign(format, format.code_nan(), value.negative);
    const Code code = round(format, dialect.element_rounding, dialect.element_overflow, value);
    if (format.is_zero(code) && dialect.sign_of_zero == SignOfZero::dropped) return Code{0};
    return code;
}

}  // namespace mx::exact
