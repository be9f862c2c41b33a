// The arithmetic of one value, by shifts of integers: what the vector kernels are held against, and
// what serves tails, odd strides, odd roundings and machines without vectors. Used by the drivers
// and the tests. Must not know tensors.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// significand * 2^exponent, a finite magnitude; significand below 2^24.
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

// A magnitude cut to a grid without bounds: the code toward zero, and what was cut off, which is
// rest / 2^places of the distance to the next code.
struct Cut {
    std::uint32_t code;
    std::uint32_t rest;
    int places;
};

inline constexpr Cut cut_to_grid(Magnitude magnitude, const Grid& grid) {
    if (magnitude.significand == 0) return {0, 0, 0};
    const int width = static_cast<int>(std::bit_width(magnitude.significand));
    const int top = width - 1 + magnitude.exponent;
    const int binade = top > grid.exponent_min ? top : grid.exponent_min;
    const int places = binade - grid.mantissa_bits - magnitude.exponent;
    // A carry out of the mantissa runs into the exponent field by itself.
    const std::uint32_t lowest = static_cast<std::uint32_t>(binade - grid.exponent_min)
                                 << grid.mantissa_bits;
    if (places <= 0) return {lowest + (magnitude.significand << -places), 0, 0};
    if (places > 31) return {lowest, magnitude.significand, places};
    const std::uint32_t units = magnitude.significand >> places;
    return {lowest + units, magnitude.significand - (units << places), places};
}

// -1, 0 or 1: less than half of the distance was cut off, half of it, more.
inline constexpr int compared_to_half(const Cut& cut) {
    if (cut.places == 0 || cut.places > 32) return -1;
    const std::uint64_t twice = std::uint64_t{cut.rest} << 1;
    const std::uint64_t whole = std::uint64_t{1} << cut.places;
    return twice < whole ? -1 : twice == whole ? 0 : 1;
}

inline constexpr std::uint32_t nearest_even(const Cut& cut) {
    const int half = compared_to_half(cut);
    return cut.code + (half > 0 || (half == 0 && (cut.code & 1) != 0) ? 1u : 0u);
}

// The code of a magnitude on a grid, to nearest even; code_overflow above the largest finite one.
inline constexpr std::uint32_t round_to_grid(Magnitude magnitude, const Grid& grid) {
    const std::uint32_t code = nearest_even(cut_to_grid(magnitude, grid));
    return code > grid.code_max ? grid.code_overflow : code;
}

// The first binary digits of what was cut off, with random ones added: is there a carry?
inline constexpr bool random_carry(const Cut& cut, int digits, std::uint32_t random) {
    const std::uint64_t rest = cut.rest;
    const int left = digits - cut.places;
    const std::uint64_t first = left >= 0 ? rest << left : left > -64 ? rest >> -left : 0;
    const std::uint64_t whole = std::uint64_t{1} << digits;
    return first + (random & (whole - 1)) >= whole;
}

// What a rounding is decided from, besides the cut itself.
struct RoundingSide {
    bool negative;
    std::uint32_t random;
};

// True when the next code away from zero is chosen.
inline constexpr bool rounds_away(const Cut& cut, const Conversion& how, const RoundingSide& side) {
    const int half = compared_to_half(cut);
    switch (how.rounding) {
        case Rounding::nearest_even:
            return half > 0 || (half == 0 && (cut.code & 1) != 0);
        case Rounding::nearest_away:
            return half >= 0;
        case Rounding::nearest_toward_zero:
            return half > 0;
        case Rounding::toward_zero:
            return false;
        case Rounding::toward_positive:
            return cut.rest != 0 && !side.negative;
        case Rounding::toward_negative:
            return cut.rest != 0 && side.negative;
        case Rounding::away_from_zero:
            return cut.rest != 0;
        case Rounding::to_odd:
            return cut.rest != 0 && (cut.code & 1) == 0;
        case Rounding::stochastic:
            return random_carry(cut, how.random_digits, side.random);
    }
    return false;
}

// Roundings that never leave the range of finite codes on that side of zero.
inline constexpr bool stays_finite(Rounding rounding, const RoundingSide& side) {
    return rounding == Rounding::toward_zero || rounding == Rounding::to_odd ||
           (rounding == Rounding::toward_positive && side.negative) ||
           (rounding == Rounding::toward_negative && !side.negative);
}

// Any input as binary32 bits; exact.
inline constexpr std::uint32_t f32_from_f16(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7FFFu;
    if (magnitude > 0x7C00u) return sign | f32_nan;
    if (magnitude == 0x7C00u) return sign | f32_infinity;
    const int field = static_cast<int>(magnitude >> 10);
    const std::uint32_t mantissa = magnitude & 0x3FFu;
    const Magnitude exact =
        field == 0 ? Magnitude{mantissa, -24} : Magnitude{mantissa | 0x400u, field - 25};
    return sign | round_to_grid(exact, grid_of(ValueType::f32));
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

// An input that was subnormal in its own type, as a zero of its sign.
inline constexpr std::uint32_t flushed_input(ValueType type, std::uint32_t f32_bits) {
    const std::uint32_t normal_from = type == ValueType::f16 ? 113u << 23 : 1u << 23;
    const bool subnormal = (f32_bits & f32_magnitude_mask) < normal_from;
    return subnormal ? f32_bits & ~f32_magnitude_mask : f32_bits;
}

// amax: binary32 bits, sign taken off.
inline constexpr std::uint8_t scale_code(const ScaleRule& rule, std::uint32_t amax) {
    if (amax > f32_infinity) return scale_nan;
    if (amax >= rule.overflow_from) return rule.overflow_code;
    if (amax < rule.one_from) return 0;
    return static_cast<std::uint8_t>(((amax + rule.round_up) >> 23) - rule.exponent_offset);
}

struct SignedMagnitude {
    bool negative;
    std::uint32_t code;
};

inline constexpr std::uint8_t signed_code(const Element& element, SignedMagnitude magnitude) {
    std::uint32_t code = magnitude.code;
    if (magnitude.negative) {
        const bool complement = element.signs == Signs::twos_complement;
        code = complement ? 0u - code : code | 1u << element.sign_place;
    }
    return static_cast<std::uint8_t>(code);
}

// value / 2^scale_exponent is what becomes an element.
struct ScaledValue {
    std::uint32_t f32_bits;
    int scale_exponent;
    std::uint32_t random;
};

inline constexpr std::uint8_t element_code(const Element& element, const Conversion& how,
                                           const ScaledValue& value) {
    const RoundingSide side{(value.f32_bits >> 31) != 0, value.random};
    const std::uint32_t absolute = value.f32_bits & f32_magnitude_mask;
    if (absolute > f32_infinity) return how.nan_code;
    const std::uint32_t code_max =
        side.negative ? element.code_max_negative : element.grid.code_max;
    const std::uint32_t past =
        how.overflow == OverflowMode::overflow && element.grid.code_overflow > code_max
            ? element.grid.code_overflow
            : code_max;
    if (absolute == f32_infinity) return signed_code(element, {side.negative, past});
    Magnitude magnitude = magnitude_of(absolute);
    magnitude.exponent -= value.scale_exponent;
    const Cut cut = cut_to_grid(magnitude, element.grid);
    std::uint32_t code = cut.code;
    if (cut.code > code_max || (cut.code == code_max && rounds_away(cut, how, side))) {
        code = stays_finite(how.rounding, side) ? code_max : past;
    } else if (rounds_away(cut, how, side)) {
        ++code;
    }
    const bool integer = element.signs == Signs::twos_complement;
    const bool subnormal = !integer && code >> element.grid.mantissa_bits == 0;
    if (how.subnormals == Subnormals::outputs_flushed && subnormal) code = 0;
    return signed_code(element, {side.negative, code});
}

// element * 2^(scale - 127) as a code of the output type, sign included.
struct ScaledElement {
    std::uint8_t code;
    std::uint8_t scale;
};

inline constexpr std::uint32_t magnitude_code(const Element& element, std::uint32_t code) {
    const std::uint32_t sign = 1u << element.sign_place;
    const bool complement = element.signs == Signs::twos_complement && (code & sign) != 0;
    return complement ? 0x100u - code : code & (sign - 1);
}

inline constexpr std::uint32_t dequantized(const Element& element, const ScaledElement& scaled,
                                           ValueType output) {
    const Grid& from = element.grid;
    const Grid to = grid_of(output);
    const std::uint32_t sign_position = output == ValueType::f32 ? 31 : 15;
    const std::uint32_t sign = (scaled.code >> element.sign_place & 1u) << sign_position;
    const std::uint32_t code = magnitude_code(element, scaled.code);
    const bool infinite = code == element.special_from && from.code_max + 1 == code &&
                          (code & ((1u << from.mantissa_bits) - 1)) == 0;
    if (scaled.scale == scale_nan || (code >= element.special_from && !infinite)) {
        return to.code_overflow | (1u << (to.mantissa_bits - 1));
    }
    if (infinite) return sign | to.code_overflow;
    const std::uint32_t field = code >> from.mantissa_bits;
    const std::uint32_t hidden = field == 0 ? 0u : 1u << from.mantissa_bits;
    const std::uint32_t mantissa = code & ((1u << from.mantissa_bits) - 1);
    const int binade = from.exponent_min + (field == 0 ? 0 : static_cast<int>(field) - 1);
    const Magnitude exact{mantissa | hidden, binade - from.mantissa_bits + int{scaled.scale} - 127};
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
