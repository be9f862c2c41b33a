// The arithmetic of the mutants, in double: right for Bug::none, and wrong in one place for each of
// the others. Shares no line with reference/, so that agreeing with it means something.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "conformance/mutants/bug.hpp"
#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::uint8_t scale_nan = 255;

inline double decode(std::uint32_t code, const Format& format) {
    const std::uint32_t magnitude = code & format.magnitude_mask();
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    const std::uint32_t hidden = exponent == 0 ? 0u : 1u << format.mantissa_bits;
    const std::uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1);
    double value = std::ldexp(hidden + fraction, format.exponent_min + std::max(exponent - 1, 0) -
                                                     format.mantissa_bits);
    if (magnitude > format.code_max)
        value = magnitude == format.code_overflow && format.has_infinity() ? infinity : nan_value;
    return std::copysign(value, magnitude == code ? 1.0 : -1.0);
}

// The code of a finite value's magnitude as if the format had no largest one. `round` makes an
// integer of the signed value counted in units of the last place.
template <typename Round>
std::uint32_t unlimited_code(double value, const Format& format, Round round) {
    const int exponent = value == 0 ? format.exponent_min
                                    : std::max(std::ilogb(value), format.exponent_min);
    const double units = round(std::ldexp(value, format.mantissa_bits - exponent));
    const auto binades = static_cast<std::uint32_t>(exponent - format.exponent_min);
    return (binades << format.mantissa_bits) + static_cast<std::uint32_t>(std::fabs(units));
}

// Nearest even, overflow to Inf, NaN positive: what a dequantizer writes and bf16 rounding needs.
inline std::uint32_t encode_value(double value, const Format& format) {
    if (std::isnan(value)) return format.magnitude_mask();
    const std::uint32_t sign = std::signbit(value) ? format.magnitude_mask() + 1 : 0;
    if (std::isinf(value)) return sign | format.code_overflow;
    const auto to_even = [](double units) { return std::nearbyint(units); };
    return sign | std::min(unlimited_code(value, format, to_even), format.code_overflow);
}

inline double through_bf16(double value) { return decode(encode_value(value, bf16), bf16); }

// A signed number of units of the last place becomes an integer.
inline double round_units(double units, const Format& format) {
    if (has(Bug::ties_up)) return std::floor(units + 0.5);
    if (has(Bug::ties_away)) return std::round(units);
    if (has(Bug::truncation)) return std::trunc(units);
    const double rounded = std::nearbyint(units);
    const double carried = std::ldexp(1.0, format.mantissa_bits + 1);
    if (has(Bug::mantissa_carry_lost) && std::fabs(rounded) == carried) return carried / 2;
    return rounded;
}

// The magnitude code of a number, Inf included.
inline std::uint32_t element_magnitude(double value, const Format& format, Overflow overflow) {
    std::uint32_t magnitude = format.code_overflow;
    if (!std::isinf(value))
        magnitude = unlimited_code(value, format,
                                   [&format](double units) { return round_units(units, format); });
    if (magnitude > format.code_max)
        magnitude = overflow == Overflow::saturate && !has(Bug::no_saturation)
                        ? format.code_max
                        : format.code_overflow;
    const bool is_e4m3 = !format.has_infinity();
    constexpr std::uint32_t e4m3_240 = 0x77;
    if (has(Bug::saturates_at_240) && is_e4m3) magnitude = std::min(magnitude, e4m3_240);
    const bool is_subnormal = magnitude >> format.mantissa_bits == 0;
    if (has(Bug::subnormals_flushed_out) && is_subnormal) magnitude = 0;
    return magnitude;
}

inline std::uint32_t encode_element(double value, const Format& format, Overflow overflow) {
    const std::uint32_t sign = std::signbit(value) ? format.magnitude_mask() + 1 : 0;
    if (std::isnan(value)) {
        if (has(Bug::nan_ignored)) return format.code_max;
        return format.magnitude_mask() | (has(Bug::nan_sign_kept) ? sign : 0);
    }
    if (has(Bug::double_rounding_bf16)) value = through_bf16(value);
    const std::uint32_t magnitude = element_magnitude(value, format, overflow);
    if (has(Bug::minus_zero_lost) && magnitude == 0) return 0;
    return sign | magnitude;
}

// An element of an input tensor as a number.
inline double input_value(std::uint32_t code, const Format& format) {
    const double value = decode(code, format);
    if (has(Bug::subnormals_flushed_in) && std::fabs(value) < FLT_MIN)
        return std::copysign(0.0, value);
    return value;
}

// ocp: floor(log2(amax)) minus the exponent of the largest element.
inline int ocp_exponent(double amax, double largest) {
    if (has(Bug::floor_log2f))
        return static_cast<int>(std::floor(std::log2(static_cast<float>(amax)))) -
               std::ilogb(largest);
    return std::ilogb(amax) - std::ilogb(largest);
}

// nv: ceil(log2(ratio)), the ratio being one float32 product by the float32 nearest to 1/largest.
inline int nv_exponent(double amax, double largest) {
    const float ratio = static_cast<float>(amax) * (1.0f / static_cast<float>(largest));
    if (ratio == 0.0f) return -127;
    if (has(Bug::floor_log2f)) return static_cast<int>(std::ceil(std::log2(ratio)));
    const bool is_power = ratio == std::ldexp(1.0f, std::ilogb(ratio));
    if (has(Bug::nv_floor_for_ceil) || (is_power && !has(Bug::nv_power_of_two_up)))
        return std::ilogb(ratio);
    return std::ilogb(ratio) + 1;
}

inline std::uint8_t encode_scale(double amax, const Format& element, Dialect dialect) {
    if (has(Bug::amax_through_bf16)) amax = through_bf16(amax);
    amax = std::fabs(amax);
    if (has(Bug::inf_to_max) && std::isinf(amax)) amax = FLT_MAX;
    if (std::isnan(amax)) return scale_nan;
    if (std::isinf(amax)) return dialect == Dialect::ocp ? scale_nan : scale_nan - 1;
    if (amax == 0) return has(Bug::zero_block_scale_127) ? 127 : 0;
    const bool is_mixed_up = has(Bug::emax_of_e4m3_for_e5m2);
    double largest = is_mixed_up ? decode(e4m3.code_max, e4m3) : decode(element.code_max, element);
    if (has(Bug::emax_forgotten)) largest = 1;
    int exponent = dialect == Dialect::ocp ? ocp_exponent(amax, largest)
                                           : nv_exponent(amax, largest);
    if (has(Bug::scale_plus_one)) ++exponent;
    if (has(Bug::scale_minus_one)) --exponent;
    const bool rounds_to_one = has(Bug::nv_underflow_to_one) && dialect == Dialect::nv;
    return static_cast<std::uint8_t>(std::clamp(exponent + 127, rounds_to_one ? 1 : 0, 254));
}

inline double scale_reciprocal(std::uint8_t scale) {
    if (scale == scale_nan) return nan_value;
    if (has(Bug::byte_254_reciprocal) && scale == 254) return 0.0;
    if (has(Bug::byte_0_reciprocal) && scale == 0) return 1.0;
    return std::ldexp(1.0, 127 - scale);
}

inline double scale_value(std::uint8_t scale) {
    if (scale == scale_nan) return has(Bug::dequantize_scale_255_as_inf) ? infinity : nan_value;
    if (has(Bug::dequantize_byte_0_as_zero) && scale == 0) return 0.0;
    return std::ldexp(1.0, scale - 127);
}

inline double element_value(std::uint32_t code, const Format& element) {
    const double value = decode(code, element);
    if (has(Bug::e5m2_inf_to_nan) && std::isinf(value)) return nan_value;
    const bool is_e4m3 = !element.has_infinity();
    if (has(Bug::e4m3_nan_as_480) && is_e4m3 && std::isnan(value))
        return std::copysign(480.0, value);
    return value;
}

}  // namespace mx::mutants
