// See round.hpp.
#include "reference/exact/round.hpp"

#include <algorithm>

namespace mx::exact {
namespace {

std::uint32_t code_max_finite(const ElementFormat& format, const Value& value) {
    return value.negative ? format.code_max_finite_negative() : format.code_max_finite();
}

// The largest code up to `code_max` whose value is at most `magnitude`, which is not below the
// smallest value. The exponent gives a guess; that the guess is right is checked by the values of
// its neighbours.
std::uint32_t code_at_or_below(const ElementFormat& format, const Rational& magnitude,
                               std::uint32_t code_max) {
    if (magnitude >= magnitude_of(format, code_max)) return code_max;
    if (magnitude == 0) return 0;
    const int exponent = std::max(floor_log2(magnitude), format.exponent_min());
    const Rational in_units = magnitude / power_of_two(exponent - format.mantissa_bits);
    const Integer units = whole_part(in_units);
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

// The first random.count binary digits of the fraction and the random bits together: is there a
// carry?
bool carries(const Rational& fraction, RandomBits random) {
    MX_ASSERT(random.count >= 1 && random.count <= 32);
    const Rational scaled = fraction * power_of_two(random.count);
    const Integer digits = whole_part(scaled);
    return digits + random.bits >= Integer(1) << static_cast<unsigned>(random.count);
}

// Does the mode choose the neighbour away from zero?
bool goes_away_from_zero(Rounding rounding, const Rounded& between, const Value& value,
                         RandomBits random) {
    const Position position = between.position;
    const bool below_is_odd = (between.code_below & 1) != 0;
    if (position == Position::exact) return false;
    switch (rounding) {
        case Rounding::nearest_even:
            return position == Position::above_half || (position == Position::half && below_is_odd);
        case Rounding::nearest_away:
            return position != Position::below_half;
        case Rounding::nearest_toward_zero:
            return position == Position::above_half;
        case Rounding::toward_zero:
            return false;
        case Rounding::toward_positive:
            return !value.negative;
        case Rounding::toward_negative:
            return value.negative;
        case Rounding::away_from_zero:
            return true;
        case Rounding::to_odd:
            return !below_is_odd && between.code_below < code_max_finite(between.format, value);
        case Rounding::stochastic:
            return value.magnitude >= between.value_above ||
                   carries((value.magnitude - between.value_below) /
                               (between.value_above - between.value_below),
                           random);
    }
    MX_ASSERT(false && "a rounding mode without a definition");
    return false;
}

Code with_sign(const ElementFormat& format, std::uint32_t magnitude_code, const Value& value) {
    MX_ASSERT(!value.negative || format.sign_bits == 1);
    return value.negative ? format.negative(magnitude_code) : format.positive(magnitude_code);
}

// What infinity and whatever overflows becomes, as a magnitude.
std::uint32_t code_of_overflow(const ElementFormat& format, Overflow overflow, const Value& value) {
    if (overflow == Overflow::saturate) return code_max_finite(format, value);
    if (format.has_infinity()) return format.code_infinity();
    if (overflow == Overflow::to_infinity) return code_max_finite(format, value);
    return format.has_nan() ? format.code_nan() : code_max_finite(format, value);
}

// Of a format that begins at zero, for values with a sign.
std::uint32_t code_of_negative(const ElementFormat& format, Overflow overflow, const Value& value) {
    const bool is_zero = value.is_finite() && value.magnitude == 0;
    return is_zero || overflow == Overflow::saturate ? 0 : format.code_nan();
}

// A NaN that is taken for a number: the quiet NaN of binary32 reads 1.5 * 2^128, and the format's
// code for that, were it unbounded, is cut to the bits there are.
std::uint32_t code_of_nan_as_number(const ElementFormat& format) {
    const std::uint32_t half = (format.code_mantissa_mask() + 1) / 2;
    const std::uint32_t field = static_cast<std::uint32_t>(128 + format.exponent_bias);
    const std::uint32_t code = (field << format.mantissa_bits) | half;
    MX_ASSERT(magnitude_of(format, code) == power_of_two(128) * 3 / 2);
    return code & format.code_magnitude_mask();
}

// The magnitude of a NaN with a payload of its own, where the format has more than one: the first
// bit of the mantissa makes it quiet, and the bits that do not fit are cut off.
std::uint32_t code_of_quiet_nan(const ElementFormat& format, const Rational& payload) {
    if (format.specials != Specials::infinity_and_nan) return format.code_nan();
    const Rational half(1, 2);
    const Rational quiet = payload < half ? payload + half : payload;
    const Integer mantissa = whole_part(quiet * power_of_two(format.mantissa_bits));
    return format.code_infinity() + static_cast<std::uint32_t>(mantissa);
}

Code code_of_nan(NanCode nan_code, const ElementFormat& format, const Value& value) {
    switch (nan_code) {
        case NanCode::positive_all_ones:
            return format.positive(format.code_nan());
        case NanCode::sign_kept:
            return with_sign(format, format.code_nan(), value);
        case NanCode::largest:
            return format.positive(format.code_max_finite());
        case NanCode::as_number:
            return format.positive(format.has_nan() ? format.code_nan()
                                                    : code_of_nan_as_number(format));
        case NanCode::zero:
            return format.positive(0);
        case NanCode::quiet_bit:
            return format.positive(code_of_quiet_nan(format, 0));
        case NanCode::payload_kept:
            return with_sign(format, code_of_quiet_nan(format, value.payload), value);
        case NanCode::of_overflow_too:
            return format.positive(format.code_nan());
    }
    MX_ASSERT(false && "a NaN code without a definition");
    return Code{0};
}

bool loses_sign(SignOfZero rule, const Value& value) {
    switch (rule) {
        case SignOfZero::kept:
            return false;
        case SignOfZero::dropped:
            return true;
        case SignOfZero::input_dropped:
            return value.magnitude == 0;
        case SignOfZero::underflow_dropped:
            return value.magnitude != 0;
    }
    MX_ASSERT(false && "a rule for signs of zero without a definition");
    return false;
}

}  // namespace

Rounded round_with_reasons(const ElementFormat& format, Rounding rounding, Overflow overflow,
                           const Value& value, RandomBits random) {
    Rounded result;
    result.format = format;
    if (value.is_nan()) {
        result.code = format.positive(format.code_nan());
        return result;
    }
    if (value.negative && format.sign_bits == 0 && format.has_zero()) {
        result.underflowed = true;
        result.code = format.positive(code_of_negative(format, overflow, value));
        return result;
    }
    if (value.is_infinity()) {
        result.overflowed = true;
        result.code = with_sign(format, code_of_overflow(format, overflow, value), value);
        return result;
    }
    if (value.magnitude < magnitude_of(format, 0)) {
        result.underflowed = true;
        result.code = with_sign(format, 0, value);
        return result;
    }
    const std::uint32_t code_max = code_max_finite(format, value);
    const std::uint32_t below = code_at_or_below(format, value.magnitude, code_max);
    result.code_below = below;
    result.value_below = magnitude_of(format, below);
    result.value_above = magnitude_of(format, below + 1);
    // Past the next value of the unbounded format, every mode that can leave the range does.
    result.position =
        value.magnitude >= result.value_above
            ? Position::above_half
            : position_between(result.value_below, result.value_above, value.magnitude);
    const bool away = goes_away_from_zero(rounding, result, value, random);
    const std::uint32_t chosen = away ? below + 1 : below;
    result.overflowed = chosen > code_max;
    result.code = with_sign(
        format, result.overflowed ? code_of_overflow(format, overflow, value) : chosen, value);
    return result;
}

Code round(const ElementFormat& format, Rounding rounding, Overflow overflow, const Value& value,
           RandomBits random) {
    return round_with_reasons(format, rounding, overflow, value, random).code;
}

Value rounded_value(const ElementFormat& format, Rounding rounding, const Value& value) {
    return decode(format, round(format, rounding, Overflow::overflow, value));
}

Value read_input(Subnormals subnormals, const ElementFormat& input, Code code) {
    Value value = decode(input, code);
    const bool flushed = subnormals == Subnormals::inputs_flushed && input.exponent_bits > 0 &&
                         value.is_finite() && value.magnitude < power_of_two(input.exponent_min());
    if (flushed) value.magnitude = 0;
    return value;
}

Code round_element(const Quantizer& quantizer, const ElementFormat& format, const Value& value,
                   RandomBits random) {
    if (value.is_nan()) return code_of_nan(quantizer.nan_code, format, value);
    Code code =
        round(format, quantizer.element_rounding, quantizer.element_overflow, value, random);
    if (quantizer.nan_code == NanCode::of_overflow_too && format.is_nan(code))
        return format.positive(format.code_nan());
    if (quantizer.subnormals == Subnormals::outputs_flushed && format.is_subnormal(code))
        code = with_sign(format, 0, value);
    if (format.is_zero(code) && loses_sign(quantizer.sign_of_zero, value))
        return format.positive(0);
    return code;
}

}  // namespace mx::exact
