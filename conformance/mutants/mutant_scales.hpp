// From an amax to a scale byte, and back to a factor, in double and float; bugs of scales.
#pragma once

#include <cstdint>

#include "conformance/mutants/mutant_elements.hpp"

namespace mx::mutants {

inline constexpr std::uint8_t scale_nan = 255;

// The largest element, of which a scale makes the most.
inline double largest_element(const Format& element) {
    if (has(Bug::emax_forgotten)) return 1;
    if (has(Bug::emax_of_e4m3_for_e5m2) && element == e5m2) return decode(e4m3.code_max, e4m3);
    if (has(Bug::e3m2_emax_3) && element == e3m2) return decode(0x1B, e3m2);
    return decode(element.code_max, element);
}

// ocp: floor(log2(amax)) minus the exponent of the largest element.
inline int ocp_exponent(double amax, const Format& element) {
    const double largest = largest_element(element);
    if (has(Bug::fp4_amax_over_6) && element == e2m1) return std::ilogb(amax / largest);
    if (has(Bug::log2_cut_toward_zero))
        return static_cast<int>(std::log2(amax)) - std::ilogb(largest);
    if (has(Bug::floor_log2f))
        return static_cast<int>(std::floor(std::log2(static_cast<float>(amax)))) -
               std::ilogb(largest);
    return std::ilogb(amax) - std::ilogb(largest);
}

// nv: ceil(log2(ratio)), the ratio being one float32 product by the float32 nearest to 1/largest.
inline int nv_exponent(double amax, const Format& element) {
    const float largest = static_cast<float>(largest_element(element));
    float ratio = static_cast<float>(amax) * (1.0f / largest);
    if (has(Bug::nv_ratio_divided)) ratio = static_cast<float>(amax) / largest;
    if (ratio == 0.0f) return -127;
    if (has(Bug::floor_log2f)) return static_cast<int>(std::ceil(std::log2(ratio)));
    const bool is_power = ratio == std::ldexp(1.0f, std::ilogb(ratio));
    if (has(Bug::nv_floor_for_ceil) || (is_power && !has(Bug::nv_power_of_two_up)))
        return std::ilogb(ratio);
    return std::ilogb(ratio) + 1;
}

inline std::uint8_t scale_byte(int exponent, int smallest = 0) {
    return static_cast<std::uint8_t>(std::clamp(exponent + 127, smallest, 254));
}

inline std::uint8_t encode_scale(double amax, const Format& element, Dialect dialect) {
    if (has(Bug::amax_through_bf16)) amax = through_bf16(amax);
    amax = std::fabs(amax);
    if (has(Bug::inf_to_max) && std::isinf(amax)) amax = FLT_MAX;
    if (std::isnan(amax)) return scale_nan;
    if (std::isinf(amax)) return dialect == Dialect::ocp ? scale_nan : scale_nan - 1;
    if (amax == 0) return has(Bug::zero_block_scale_127) ? 127 : 0;
    int exponent =
        dialect == Dialect::ocp ? ocp_exponent(amax, element) : nv_exponent(amax, element);
    if (has(Bug::scale_plus_one)) ++exponent;
    if (has(Bug::scale_minus_one)) --exponent;
    const bool rounds_to_one = has(Bug::nv_underflow_to_one) && dialect == Dialect::nv;
    return scale_byte(exponent, rounds_to_one ? 1 : 0);
}

// A cast of any value to E8M0: ocp rounds down, nv up; neither looks at the sign.
inline std::uint8_t cast_to_scale(double value, Dialect dialect) {
    if (std::isnan(value)) return scale_nan;
    if (has(Bug::cast_negative_as_zero) && value < 0) return 0;
    value = std::fabs(value);
    if (std::isinf(value)) return dialect == Dialect::ocp ? scale_nan : scale_nan - 1;
    if (value == 0) return 0;
    if (has(Bug::cast_underflow_as_nan) && value < 0x1p-127) return scale_nan;
    const int below = std::ilogb(value);
    const bool rounds_up = dialect == Dialect::nv && !has(Bug::cast_never_up);
    return scale_byte(rounds_up && value != times_power_of_two(1.0, below) ? below + 1 : below);
}

inline double scale_reciprocal(std::uint8_t scale) {
    if (scale == scale_nan) return nan_value;
    if (has(Bug::byte_254_reciprocal) && scale == 254) return 0.0;
    if (has(Bug::byte_0_reciprocal) && scale == 0) return 1.0;
    return times_power_of_two(1.0, 127 - scale);
}

inline double scale_value(std::uint8_t scale) {
    if (scale == scale_nan) return has(Bug::dequantize_scale_255_as_inf) ? infinity : nan_value;
    if (has(Bug::dequantize_byte_0_as_zero) && scale == 0) return 0.0;
    return times_power_of_two(1.0, scale - 127);
}

}  // namespace mx::mutants
