// The mutants' arithmetic of single numbers, in double: right for Bug::none, and wrong in one place
// for each of the others. Shares no line with reference/, so that agreeing with it means something.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "conformance/mutants/bug.hpp"
#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// value * 2^exponent. Selftests spend a fifth of their time in std::ldexp otherwise.
inline double times_power_of_two(double value, int exponent) {
    if (exponent < -1022 || exponent > 1023) return std::ldexp(value, exponent);
    return value * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// How a value becomes an element where the request says it.
struct Manner {
    Rounding rounding = Rounding::nearest_even;
    Overflow overflow = Overflow::saturate;
    Subnormals subnormals = Subnormals::honoured;
    int random_digits = 0;
    std::uint32_t random_bits = 0;
};

inline bool is_fp6(const Format& format) {
    return format == e3m2 || format == e2m3;
}

inline double decode_integer(std::uint32_t code, const Format& format) {
    const int number = code < 128 ? static_cast<int>(code) : static_cast<int>(code) - 256;
    return times_power_of_two(number, format.exponent_min - format.mantissa_bits);
}

inline double decode(std::uint32_t code, const Format& format) {
    if (format.is_integer()) return decode_integer(code, format);
    const std::uint32_t magnitude = code & format.magnitude_mask();
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    const std::uint32_t hidden = exponent == 0 ? 0u : 1u << format.mantissa_bits;
    const std::uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1);
    double value = times_power_of_two(
        hidden + fraction, format.exponent_min + std::max(exponent - 1, 0) - format.mantissa_bits);
    if (magnitude > format.code_max)
        value = magnitude == format.code_overflow && format.has_infinity() ? infinity : nan_value;
    return std::copysign(value, magnitude == code ? 1.0 : -1.0);
}

// The code of that magnitude with the sign of `value`.
inline std::uint32_t with_sign(std::uint32_t magnitude, const Format& format, double value) {
    const bool is_negative = std::signbit(value);
    if (!format.is_integer())
        return is_negative ? magnitude | (format.magnitude_mask() + 1) : magnitude;
    if (has(Bug::int8_sign_magnitude) && is_negative) return (magnitude | 0x80u) & 0xFFu;
    return (is_negative ? 0u - magnitude : magnitude) & 0xFFu;
}

// The code of a finite value's magnitude as if the format had no largest one. `round` makes an
// integer of the signed value counted in units of the last place.
template <typename Round>
std::uint32_t unlimited_code(double value, const Format& format, Round round) {
    const int exponent =
        value == 0 ? format.exponent_min : std::max(std::ilogb(value), format.exponent_min);
    const double units = round(times_power_of_two(value, format.mantissa_bits - exponent));
    const auto binades = static_cast<std::uint32_t>(exponent - format.exponent_min);
    return (binades << format.mantissa_bits) + static_cast<std::uint32_t>(std::fabs(units));
}

// Nearest even, overflow to Inf, NaN positive: what bf16 rounding and a dequantizer need.
inline std::uint32_t encode_value(double value, const Format& format) {
    if (std::isnan(value)) return format.magnitude_mask();
    if (std::isinf(value)) return with_sign(format.code_overflow, format, value);
    const auto to_even = [](double units) { return std::nearbyint(units); };
    const std::uint32_t code = unlimited_code(value, format, to_even);
    return with_sign(std::min(code, format.code_overflow), format, value);
}

inline double through_bf16(double value) {
    return decode(encode_value(value, bf16), bf16);
}

// Each of these makes an integer of a signed number of units of the last place.
inline double away(double units) {
    return std::copysign(std::ceil(std::fabs(units)), units);
}

inline double nearest_even(double units, const Format& format) {
    if (has(Bug::ties_up)) return std::floor(units + 0.5);
    if (has(Bug::ties_away) || (has(Bug::fp4_ties_away) && format == e2m1))
        return std::round(units);
    if (has(Bug::truncation) || (has(Bug::int8_truncates) && format.is_integer()))
        return std::trunc(units);
    const double rounded = std::nearbyint(units);
    const double carried = times_power_of_two(1.0, format.mantissa_bits + 1);
    if (has(Bug::mantissa_carry_lost) && std::fabs(rounded) == carried) return carried / 2;
    return rounded;
}

inline double nearest_toward_zero(double units) {
    if (has(Bug::ties_down_as_even)) return std::nearbyint(units);
    return std::copysign(std::ceil(std::fabs(units) - 0.5), units);
}

inline double directed(double units, Rounding rounding) {
    const bool asks_up = rounding == Rounding::toward_positive;
    if (has(Bug::directed_ignores_sign)) return asks_up ? away(units) : std::trunc(units);
    return asks_up != has(Bug::directed_exchanged) ? std::ceil(units) : std::floor(units);
}

inline double to_odd(double units) {
    const double cut = std::trunc(units);
    const bool stays = cut == units || std::fmod(cut, 2) != 0 || has(Bug::to_odd_as_truncation);
    return stays ? cut : cut + std::copysign(1.0, units);
}

// The digits of the remainder that count and the random bits carry into the integer, or not.
inline double stochastic(double units, const Manner& manner) {
    const double magnitude = std::fabs(units), whole = std::floor(magnitude);
    const double one = times_power_of_two(1.0, manner.random_digits);
    const double remainder = (magnitude - whole) * one, bits = manner.random_bits;
    double digits = std::floor(remainder);
    if (has(Bug::stochastic_remainder_rounded)) digits = std::nearbyint(remainder);
    if (has(Bug::stochastic32_half_the_digits) && manner.random_digits == 32)
        digits = std::floor(digits / 65536) * 65536;
    if (has(Bug::stochastic_toward_positive) && units < 0 && remainder != 0)
        return one - digits + bits >= one ? -whole : -whole - 1;
    const double carry_from = has(Bug::stochastic_carry_early) && remainder != 0 ? one - 1 : one;
    return std::copysign(digits + bits >= carry_from ? whole + 1 : whole, units);
}

inline double round_units(double units, const Format& format, const Manner& manner) {
    switch (manner.rounding) {
        case Rounding::nearest_even:
            return nearest_even(units, format);
        case Rounding::nearest_away:
            return has(Bug::nearest_away_as_even) ? std::nearbyint(units) : std::round(units);
        case Rounding::nearest_toward_zero:
            return nearest_toward_zero(units);
        case Rounding::toward_zero:
            return std::trunc(units);
        case Rounding::toward_positive:
        case Rounding::toward_negative:
            return directed(units, manner.rounding);
        case Rounding::away_from_zero:
            return away(units);
        case Rounding::to_odd:
            return to_odd(units);
        case Rounding::stochastic:
            return stochastic(units, manner);
    }
    return nan_value;
}

// Roundings that never go beyond the largest element; they stop there.
inline bool stays_in_range(Rounding rounding, double value) {
    switch (rounding) {
        case Rounding::toward_zero:
            return !has(Bug::truncation_overflows);
        case Rounding::to_odd:
            return true;
        case Rounding::toward_positive:
            return std::signbit(value);
        case Rounding::toward_negative:
            return !std::signbit(value);
        default:
            return false;
    }
}

// On the side of zero that `value` is on.
inline std::uint32_t largest_magnitude(const Format& format, double value) {
    bool reaches_minus_128 = format == int8;
    if (has(Bug::int8_never_minus_128)) reaches_minus_128 = false;
    if (has(Bug::int8_symmetric_writes_128)) reaches_minus_128 = format.is_integer();
    return std::signbit(value) && reaches_minus_128 ? 128 : format.code_max;
}

// A magnitude code that the format has. Infinity comes as the largest number there is.
inline std::uint32_t limited(std::uint32_t magnitude, const Format& format, const Manner& manner,
                             double value) {
    const std::uint32_t largest = largest_magnitude(format, value);
    if (magnitude <= largest) return magnitude;
    if (has(Bug::int8_wraps) && format.is_integer()) return magnitude;
    if (!std::isinf(value) && stays_in_range(manner.rounding, value)) return largest;
    const bool saturates = manner.overflow == Overflow::saturate && !has(Bug::no_saturation);
    const bool has_special = format.code_overflow > format.code_max;
    return saturates || !has_special ? largest : format.code_overflow;
}

inline bool is_flushed(double value, std::uint32_t magnitude, const Format& format,
                       const Manner& manner) {
    if (format.is_integer()) return false;
    bool is_subnormal = magnitude >> format.mantissa_bits == 0;
    if (has(Bug::fp6_subnormals_lost) && is_fp6(format) && is_subnormal) return true;
    if (has(Bug::subnormals_flushed_out) && is_subnormal) return true;
    if (has(Bug::flush_out_before_rounding))
        is_subnormal = std::fabs(value) < times_power_of_two(1.0, format.exponent_min);
    return manner.subnormals == Subnormals::outputs_flushed && is_subnormal &&
           !has(Bug::flush_out_ignored);
}

// The magnitude code of a number, Inf included.
inline std::uint32_t element_magnitude(double value, const Format& format, const Manner& manner) {
    std::uint32_t magnitude = std::numeric_limits<std::uint32_t>::max();
    if (!std::isinf(value))
        magnitude = unlimited_code(
            value, format, [&](double units) { return round_units(units, format, manner); });
    magnitude = limited(magnitude, format, manner, value);
    constexpr std::uint32_t e4m3_240 = 0x77;
    if (has(Bug::saturates_at_240) && format == e4m3) magnitude = std::min(magnitude, e4m3_240);
    return is_flushed(value, magnitude, format, manner) ? 0 : magnitude;
}

inline std::uint32_t encode_nan(double value, const Format& format) {
    if (has(Bug::nan_ignored)) return format.code_max;
    if (has(Bug::fp4_nan_as_zero) && format == e2m1) return 0;
    return with_sign(format.magnitude_mask(), format, has(Bug::nan_sign_kept) ? value : nan_value);
}

// What the device takes for the format that was asked for.
inline Format written_format(const Format& asked) {
    if (!has(Bug::fp6_formats_exchanged) || !is_fp6(asked)) return asked;
    return asked == e3m2 ? e2m3 : e3m2;
}

inline std::uint32_t encode_element(double value, const Format& asked, const Manner& manner) {
    const Format format = written_format(asked);
    if (std::isnan(value)) return encode_nan(value, format);
    if (has(Bug::double_rounding_bf16)) value = through_bf16(value);
    if (has(Bug::int8_quantum_halved) && format.is_integer()) value *= 2;
    const std::uint32_t magnitude = element_magnitude(value, format, manner);
    const bool is_plain = manner.rounding == Rounding::nearest_even;
    const bool loses_sign = has(Bug::minus_zero_lost) ||
                            (has(Bug::directed_underflow_unsigned) && !is_plain && value != 0);
    if (loses_sign && magnitude == 0) return 0;
    return with_sign(magnitude, format, value);
}

// An element of an input tensor as a number.
inline double input_value(std::uint32_t code, const Format& format,
                          Subnormals rule = Subnormals::honoured) {
    constexpr std::uint32_t mantissa_f32 = 0x7FFFFF, missed = 0x2AAAAA;
    if (has(Bug::one_mantissa_missed) && format == f32 && (code & mantissa_f32) == missed)
        code &= ~mantissa_f32;
    double value = decode(code, format);
    if (has(Bug::nan_payload_lost) && format == f32 && std::isnan(value))
        value = decode(code & 0xFFFF0000u, format);
    const bool is_subnormal = std::fabs(value) < times_power_of_two(1.0, format.exponent_min);
    bool is_flushed = rule == Subnormals::inputs_flushed && !has(Bug::flush_in_ignored);
    if (has(Bug::f16_subnormals_lost) && format == f16) is_flushed = true;
    if (has(Bug::subnormals_flushed_in) && std::fabs(value) < FLT_MIN) is_flushed = true;
    if (!is_flushed || !is_subnormal) return value;
    return has(Bug::flush_in_loses_sign) ? 0.0 : std::copysign(0.0, value);
}

inline double element_value(std::uint32_t code, const Format& element) {
    if (has(Bug::dequantize_int8_unsigned) && element.is_integer()) return code / 64.0;
    if (has(Bug::dequantize_int8_128_as_zero) && element.is_integer() && code == 0x80) return 0.0;
    if (has(Bug::dequantize_fp4_signless) && element == e2m1) code &= element.magnitude_mask();
    const double value = decode(code, element);
    if (has(Bug::e5m2_inf_to_nan) && std::isinf(value)) return nan_value;
    if (has(Bug::e4m3_nan_as_480) && element == e4m3 && std::isnan(value))
        return std::copysign(480.0, value);
    if (has(Bug::dequantize_minus_zero_lost) && value == 0) return 0.0;
    return value;
}

// What dequantize writes.
inline std::uint32_t output_code(double value, const Format& format) {
    const double smallest = times_power_of_two(1.0, format.exponent_min);
    if (has(Bug::dequantize_flushes_subnormals) && std::fabs(value) < smallest)
        value = std::copysign(0.0, value);
    const std::uint32_t code = encode_value(value, format);
    const bool became_infinite = !std::isinf(value) && std::isinf(decode(code, format));
    if (has(Bug::dequantize_saturates) && became_infinite) return code - 1;
    if (has(Bug::dequantize_truncates) && std::fabs(decode(code, format)) > std::fabs(value))
        return code - 1;
    return code;
}

}  // namespace mx::mutants
