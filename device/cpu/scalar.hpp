// The arithmetic of one value, by shifts of integers: what the vector kernels are held against, and
// what serves tails, odd strides and machines without vectors. Used by the drivers and the tests.
// Must not know tensors.
#pragma once

#include <bit>
#include <cstring>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// significand * 2^exponent, a finite magnitude.
struct Magnitude {
    std::uint32_t significand;
    int exponent;
};

inline constexpr Magnitude magnitude_of(std::uint32_t f32_bits) {
    const std::uint32_t mantissa = f32_bits & 0x7FFFFFu;
    const int field = static_cast<int>((f32_bits >> 23) & 0xFFu);
    if (field == 0) return {mantissa, -149};
    return {mantissa | 0x800000u, field - 150};
}

// value / 2^places, to the nearest integer, ties to even. places >= 1.
inline constexpr std::uint32_t shift_right_to_even(std::uint32_t value, int places) {
    if (places > 31) return 0;
    const std::uint32_t half = 1u << (places - 1);
    const std::uint32_t kept = value >> places;
    const std::uint32_t rest = value & (2 * half - 1);
    return kept + ((rest > half || (rest == half && (kept & 1) != 0)) ? 1u : 0u);
}

// The code of a magnitude on a grid, rounded once; code_overflow when above the largest finite one.
// A carry out of the mantissa runs into the exponent field by itself.
inline constexpr std::uint32_t round_to_grid(Magnitude magnitude, const Grid& grid) {
    if (magnitude.significand == 0) return 0;
    const int top = std::bit_width(magnitude.significand) - 1 + magnitude.exponent;
    if (top > 128) return grid.code_overflow;
    const int binade = top > grid.exponent_min ? top : grid.exponent_min;
    const int places = binade - grid.mantissa_bits - magnitude.exponent;
    const std::uint32_t count = places > 0 ? shift_right_to_even(magnitude.significand, places)
                                           : magnitude.significand << -places;
    const auto binades_up = static_cast<std::uint32_t>(binade - grid.exponent_min);
    const std::uint32_t code = count + (binades_up << grid.mantissa_bits);
    return code > grid.code_max ? grid.code_overflow : code;
}

// Any input as binary32 bits; exact.
inline constexpr std::uint32_t f32_from_f16(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7FFFu;
    if (magnitude > 0x7C00u) return sign | f32_nan;
    if (magnitude == 0x7C00u) return sign | f32_infinity;
    const int field = static_cast<int>(magnitude >> 10);
    const std::uint32_t mantissa = magnitude & 0x3FFu;
    const Magnitude exact = field == 0 ? Magnitude{mantissa, -24}
                                       : Magnitude{mantissa | 0x400u, field - 25};
    return sign | round_to_grid(exact, f32_grid);
}

inline std::uint32_t load_f32_bits(ValueType type, const std::uint8_t* at) {
    if (type == ValueType::f32) {
        std::uint32_t bits;
        std::memcpy(&bits, at, sizeof bits);
        return bits;
    }
    std::uint16_t half;
    std::memcpy(&half, at, sizeof half);
    return type == ValueType::bf16 ? std::uint32_t{half} << 16 : f32_from_f16(half);
}

// amax: binary32 bits, sign taken off.
inline constexpr std::uint8_t scale_code(const ScaleRule& rule, std::uint32_t amax) {
    if (amax > f32_infinity) return scale_nan;
    if (amax >= rule.overflow_from) return rule.overflow_code;
    const std::uint32_t tie = amax == rule.ratio_tie ? 1u : 0u;
    const std::uint32_t field = (amax + rule.round_up - tie) >> 23;
    return static_cast<std::uint8_t>(field > rule.exponent_offset ? field - rule.exponent_offset
                                                                  : 0);
}

struct ElementStep {
    ElementType type;
    OverflowMode overflow;
    int scale_exponent;  // the element is value / 2^scale_exponent
};

inline constexpr std::uint8_t element_code(std::uint32_t f32_bits, const ElementStep& step) {
    const std::uint32_t sign = (f32_bits >> 24) & 0x80u;
    const std::uint32_t absolute = f32_bits & f32_magnitude_mask;
    const Grid& grid = grid_of(step.type);
    if (absolute > f32_infinity) return element_nan;
    std::uint32_t code = grid.code_overflow;
    if (absolute < f32_infinity) {
        Magnitude magnitude = magnitude_of(absolute);
        magnitude.exponent -= step.scale_exponent;
        code = round_to_grid(magnitude, grid);
    }
    if (code > grid.code_max && step.overflow == OverflowMode::saturate) code = grid.code_max;
    return static_cast<std::uint8_t>(sign | code);
}

// element * 2^(scale - 127) as a code of the output type, sign included.
struct ScaledElement {
    ElementType type;
    std::uint8_t code;
    std::uint8_t scale;
};

inline constexpr std::uint32_t dequantized(const ScaledElement& element, ValueType output) {
    const Grid& from = grid_of(element.type);
    const Grid& to = grid_of(output);
    const std::uint32_t sign_position = output == ValueType::f32 ? 31 : 15;
    const std::uint32_t sign = std::uint32_t{element.code} >> 7 << sign_position;
    const std::uint32_t code = element.code & 0x7Fu;
    const bool infinite = code == 0x7C && element.type == ElementType::e5m2;
    if (element.scale == scale_nan || (code > from.code_max && !infinite)) {
        return to.code_overflow | (1u << (to.mantissa_bits - 1));
    }
    if (infinite) return sign | to.code_overflow;
    const std::uint32_t field = code >> from.mantissa_bits;
    const std::uint32_t hidden = field == 0 ? 0u : 1u << from.mantissa_bits;
    const std::uint32_t mantissa = code & ((1u << from.mantissa_bits) - 1);
    const int binade = from.exponent_min + (field == 0 ? 0 : static_cast<int>(field) - 1);
    const Magnitude exact{mantissa | hidden,
                          binade - from.mantissa_bits + int{element.scale} - 127};
    return sign | round_to_grid(exact, to);
}

inline void store_code(ValueType type, std::uint32_t code, std::uint8_t* at) {
    if (type == ValueType::f32) {
        std::memcpy(at, &code, sizeof code);
        return;
    }
    const auto half = static_cast<std::uint16_t>(code);
    std::memcpy(at, &half, sizeof half);
}

}  // namespace mx::cpu
