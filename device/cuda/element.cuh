// Elements on the GPU: FP8 by the conversion instructions, in pairs, and every format by arithmetic
// that reads a Grid. Used by every kernel. Knows nothing of scales or tensors.
#pragma once

#include <cstdint>

#include "device/cuda/types.hpp"

namespace mx::cuda {

// Two codes, the first in the low byte. To nearest even; beyond the largest, the largest; NaN is
// 0x7F.
template <Element element>
__device__ std::uint32_t fp8_pair(float first, float second) {
    std::uint16_t pair;
    if (element == Element::e4m3)
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    else
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    return pair;
}

// Two codes as two values of binary16, exactly, the first in the low half.
template <Element element>
__device__ std::uint32_t half_pair(std::uint32_t codes) {
    std::uint32_t pair;
    const auto both = static_cast<std::uint16_t>(codes);
    if (element == Element::e4m3)
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(both));
    else
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(both));
    return pair;
}

// 2^exponent, of a normal float32.
__device__ inline float power_of_two(int exponent) {
    return __uint_as_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}

struct Encoding {
    Grid grid;
    std::uint8_t nan_code;
    Overflow overflow;
};

// To nearest even. In units of the grid around the value its magnitude is a small number, which
// rounds as an integer; the code of the binade's first value plus that integer is the code, also
// where rounding carries into the next binade.
__device__ inline std::uint8_t element_code(const Encoding& how, float value) {
    const Grid& grid = how.grid;
    const std::uint32_t bits = __float_as_uint(value);
    const bool negative = bits >> 31 != 0;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > f32_infinity) return how.nan_code;
    const std::uint32_t largest = negative ? grid.code_max_negative : grid.code_max;
    const int binade = max(static_cast<int>(magnitude >> 23) - 127, grid.exponent_min);
    std::uint32_t code = 0xFFFFFFFFu;  // far above every grid, where the sum could overflow
    if (binade < grid.exponent_min + 32) {
        const float units = __uint_as_float(magnitude) * power_of_two(grid.mantissa_bits - binade);
        code = (static_cast<std::uint32_t>(binade - grid.exponent_min) << grid.mantissa_bits) +
               __float2uint_rn(units);
    }
    const bool special = how.overflow == Overflow::to_special && grid.code_overflow > largest;
    if (code > largest) code = special ? grid.code_overflow : largest;
    if (negative) code = grid.is_twos_complement ? 0u - code : code | 1u << grid.sign_place;
    return static_cast<std::uint8_t>(code);
}

__device__ inline float element_value(const Grid& grid, std::uint8_t code) {
    const std::uint32_t sign = 1u << grid.sign_place;
    const bool negative = (code & sign) != 0;
    std::uint32_t magnitude = code & (sign - 1);
    if (negative && grid.is_twos_complement) magnitude = 0x100u - code;
    float value;
    if (magnitude >= grid.special_from) {
        const bool infinite = magnitude == grid.code_max + 1 && grid.mantissa_bits == 2;
        value = __uint_as_float(infinite ? f32_infinity : 0x7FFFFFFFu);
    } else {
        const std::uint32_t field = grid.is_twos_complement ? 0 : magnitude >> grid.mantissa_bits;
        const std::uint32_t hidden = field == 0 ? 0 : 1u << grid.mantissa_bits;
        const std::uint32_t fraction = magnitude - (field << grid.mantissa_bits);
        const int binade = grid.exponent_min + (field == 0 ? 0 : static_cast<int>(field) - 1);
        value = __uint2float_rn(fraction + hidden) * power_of_two(binade - grid.mantissa_bits);
    }
    return negative ? -value : value;
}

// The codes of an output type for one or two float32 values, to nearest even.
template <ValueType type>
__device__ std::uint32_t packed_values(float first, float second) {
    std::uint32_t pair = __float_as_uint(first);
    if (type == ValueType::bf16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    if (type == ValueType::f16)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

}  // namespace mx::cuda
