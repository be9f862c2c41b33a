// Elements: every format by arithmetic that reads a Grid, on the GPU and on a host; on the GPU
// alone FP8 by the conversion instructions, in pairs. Used by every kernel. Knows nothing of scales
// or tensors.
#pragma once

#include <cstdint>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/types.hpp"

namespace mx::cuda {

struct Encoding {
    Grid grid;
    std::uint8_t nan_code;
    Overflow overflow;
    ElementRounding rounding = ElementRounding::nearest_even;
};

// In units of the grid around the value its magnitude is a small number, which rounds as an
// integer; the code of the binade's first value plus that integer is the code, also where rounding
// carries into the next binade.
MX_CUDA_BOTH inline std::uint32_t rounded_units(ElementRounding rounding, float units,
                                                std::uint32_t random) {
    // In the lowest bits of 2^23 + units, one bit each.
    if (rounding == ElementRounding::nearest_even)
        return bits_of(sum(units, 0x1p23f)) - 0x4B000000u;
    const auto whole = static_cast<std::uint32_t>(units);
    const auto digits =
        static_cast<std::uint32_t>((units - static_cast<float>(whole)) * 256.0f);  // exactly
    return whole + (digits + (random & 0xFFu)) / 256;
}

// The code of a number on any grid.
MX_CUDA_BOTH inline std::uint32_t grid_code(const Encoding& how, float value,
                                            std::uint32_t random = 0) {
    const Grid& grid = how.grid;
    const std::uint32_t bits = bits_of(value);
    const bool negative = bits >> 31 != 0;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > f32_infinity) return how.nan_code;
    const std::uint32_t largest = negative ? grid.code_max_negative : grid.code_max;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int binade = exponent > grid.exponent_min ? exponent : grid.exponent_min;
    std::uint32_t code = 0xFFFFFFFFu;  // far above every grid, where the sum could overflow
    if (binade < grid.exponent_min + 32) {
        const float units = product(float_of(magnitude), power_of_two(grid.mantissa_bits - binade));
        code = (static_cast<std::uint32_t>(binade - grid.exponent_min) << grid.mantissa_bits) +
               rounded_units(how.rounding, units, random);
    }
    const bool special = how.overflow == Overflow::to_special && grid.code_overflow > largest;
    if (code > largest) code = special ? grid.code_overflow : largest;
    if (negative) code = grid.is_twos_complement ? 0u - code : code | 1u << grid.sign_place;
    return code;
}

MX_CUDA_BOTH inline std::uint8_t element_code(const Encoding& how, float value,
                                              std::uint32_t random = 0) {
    return static_cast<std::uint8_t>(grid_code(how, value, random));
}

MX_CUDA_BOTH inline float element_value(const Grid& grid, std::uint32_t code) {
    const std::uint32_t sign = 1u << grid.sign_place;
    const bool negative = (code & sign) != 0;
    std::uint32_t magnitude = code & (sign - 1);
    if (negative && grid.is_twos_complement) magnitude = 0x100u - code;
    float value;
    if (magnitude >= grid.special_from) {
        const bool infinite = (magnitude & ((1u << grid.mantissa_bits) - 1)) == 0;
        value = float_of(infinite ? f32_infinity : 0x7FFFFFFFu);
    } else {
        const std::uint32_t field = grid.is_twos_complement ? 0 : magnitude >> grid.mantissa_bits;
        const std::uint32_t hidden = field == 0 ? 0 : 1u << grid.mantissa_bits;
        const std::uint32_t fraction = magnitude - (field << grid.mantissa_bits);
        const int binade = grid.exponent_min + (field == 0 ? 0 : static_cast<int>(field) - 1);
        value = product(static_cast<float>(fraction + hidden),
                        power_of_two(binade - grid.mantissa_bits));
    }
    return negative ? -value : value;
}

// Values of binary16 as if they were elements.
MX_CUDA_BOTH constexpr Grid f16_grid() {
    return {10, -14, 0x7BFF, 0x7BFF, 0x7C00, 0x7C00, 15, false};
}

#if defined(__CUDACC__)

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

#endif  // __CUDACC__

}  // namespace mx::cuda
