// Input values in words of 32 bits, one float32 or two values of 16 bits, on the GPU and on a host.
// Magnitudes are compared as integers: no value is flushed, and a NaN is above everything.
#pragma once

#include <cstdint>

#include "device/cuda/element.cuh"
#include "device/cuda/types.hpp"

namespace mx::cuda {

template <ValueType type>
constexpr std::uint32_t infinity_of = type == ValueType::f32    ? 0x7F800000u
                                      : type == ValueType::bf16 ? 0x7F80u
                                                                : 0x7C00u;
template <ValueType type>
constexpr int per_word = type == ValueType::f32 ? 1 : 2;

// Every value of the word without its sign.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t magnitudes(std::uint32_t word) {
    return word & (type == ValueType::f32 ? 0x7FFFFFFFu : 0x7FFF7FFFu);
}
template <ValueType type>
MX_CUDA_BOTH std::uint32_t larger(std::uint32_t left, std::uint32_t right) {
#if defined(__CUDA_ARCH__)
    return type == ValueType::f32 ? max(left, right) : __vmaxu2(left, right);
#else
    if (type == ValueType::f32) return left > right ? left : right;
    const std::uint32_t low = (left & 0xFFFFu) > (right & 0xFFFFu) ? left : right;
    const std::uint32_t high = left >> 16 > right >> 16 ? left : right;
    return (low & 0xFFFFu) | (high & 0xFFFF0000u);
#endif
}

// Value `index` of a word of magnitudes, by itself.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t lane_of(std::uint32_t word, int index) {
    if (type == ValueType::f32) return word;
    return index == 0 ? word & 0xFFFFu : word >> 16;
}
// The largest magnitude of a word.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t folded(std::uint32_t word) {
    if (type == ValueType::f32) return word;
    const std::uint32_t low = word & 0xFFFFu, high = word >> 16;
    return low > high ? low : high;
}

// A word of magnitudes with 0 for each NaN.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t without_nan(std::uint32_t word) {
    if (type == ValueType::f32) return word > infinity_of<type> ? 0 : word;
    const std::uint32_t low = word & 0xFFFFu;
    const std::uint32_t high = word >> 16;
    return (low > infinity_of<type> ? 0 : low) |
           (high > infinity_of<type> ? 0 : word & 0xFFFF0000u);
}
template <ValueType type>
MX_CUDA_BOTH bool has_nan(std::uint32_t word) {
    return lane_of<type>(word, 0) > infinity_of<type> ||
           lane_of<type>(word, per_word<type> - 1) > infinity_of<type>;
}

MX_CUDA_BOTH inline float float_of_half(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<std::uint16_t>(bits)));
    return value;
#else
    return element_value(f16_grid(), bits);
#endif
}

// Value `index` of a word as float32, exactly. Written for indices known at compile time.
template <ValueType type>
MX_CUDA_BOTH float value_of(std::uint32_t word, int index) {
    if (type == ValueType::f32) return float_of(word);
    if (type == ValueType::bf16) return float_of(index == 0 ? word << 16 : word & 0xFFFF0000u);
    return float_of_half(index == 0 ? word & 0xFFFFu : word >> 16);
}

// A magnitude of the input type as the bits of a float32.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t f32_bits(std::uint32_t magnitude) {
    return bits_of(value_of<type>(magnitude, 0));
}

// From any address: nobody promised that it is a multiple of the width.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t load_value(const std::uint8_t* at) {
    std::uint32_t bits = 0;
    for (int i = 0; i < width_of(type); ++i) bits |= static_cast<std::uint32_t>(at[i]) << (8 * i);
    return bits;
}

// The nearest value of an output type, as its bits; beyond the largest, Inf.
MX_CUDA_BOTH inline std::uint32_t output_bits(ValueType type, float value) {
    if (type == ValueType::bf16) return bits_of(rounded_to_bf16(value)) >> 16;
    if (type == ValueType::f32) return bits_of(value);
    return is_nan(value) ? 0x7FFFu : grid_code({f16_grid(), 0, Overflow::to_special}, value);
}

MX_CUDA_BOTH inline std::uint8_t* byte_of(const Plane& plane, Extent cell, int width) {
    return plane.data + (cell.lines * plane.line_stride + cell.lanes * plane.lane_stride) * width;
}

MX_CUDA_BOTH inline void store_bits(std::uint8_t* at, std::uint32_t bits, int width) {
    for (int i = 0; i < width; ++i) at[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

MX_CUDA_BOTH inline std::uint32_t larger_bits(std::uint32_t a, std::uint32_t b) {
    return a > b ? a : b;
}
MX_CUDA_BOTH inline std::int64_t smaller(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
}

}  // namespace mx::cuda
