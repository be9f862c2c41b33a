// A thread's part of a memory row: a few words of values, and their codes. Used by the kernels
// that quantize along rows, down columns and both ways.
#pragma once

#include <cstdint>

#include "device/cuda/element.cuh"
#include "device/cuda/memory.cuh"
#include "device/cuda/scale.cuh"
#include "device/cuda/values.cuh"

namespace mx::cuda {

template <int count>
struct Part {
    std::uint32_t words[count];
};
template <ValueType type, int count>
constexpr int values_in = count* per_word<type>;

__device__ inline void load(const std::uint8_t* at, Part<1>& part) {
    part.words[0] = load_4(at);
}
__device__ inline void load(const std::uint8_t* at, Part<2>& part) {
    const uint2 words = load_8(at);
    part = {{words.x, words.y}};
}
__device__ inline void load(const std::uint8_t* at, Part<4>& part) {
    const uint4 words = load_16(at);
    part = {{words.x, words.y, words.z, words.w}};
}

__device__ inline void load(const std::uint8_t* at, Part<8>& part) {
    const uint4 low = load_16(at);
    const uint4 high = load_16(at + 16);
    part = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ inline void load(const std::uint8_t* at, Part<16>& part) {
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        const uint4 words = load_16(at + 4 * i);
        part.words[i] = words.x;
        part.words[i + 1] = words.y;
        part.words[i + 2] = words.z;
        part.words[i + 3] = words.w;
    }
}

template <ValueType type, int count>
__device__ Part<count> magnitudes(const Part<count>& values) {
    Part<count> result;
#pragma unroll
    for (int i = 0; i < count; ++i) result.words[i] = magnitudes<type>(values.words[i]);
    return result;
}
template <ValueType type, int count>
__device__ Part<count> without_nan(const Part<count>& magnitudes) {
    Part<count> result;
#pragma unroll
    for (int i = 0; i < count; ++i) result.words[i] = without_nan<type>(magnitudes.words[i]);
    return result;
}
template <ValueType type, int count>
__device__ bool has_nan(const Part<count>& magnitudes) {
    bool found = false;
#pragma unroll
    for (const std::uint32_t word : magnitudes.words) found = found || has_nan<type>(word);
    return found;
}
template <ValueType type, int count>
__device__ Part<count> larger(const Part<count>& left, const Part<count>& right) {
    Part<count> result;
#pragma unroll
    for (int i = 0; i < count; ++i) result.words[i] = larger<type>(left.words[i], right.words[i]);
    return result;
}

// The largest of a part's words, half by half.
template <ValueType type, int count>
__device__ std::uint32_t larger_word(const Part<count>& part) {
    std::uint32_t largest = part.words[0];
#pragma unroll
    for (int i = 1; i < count; ++i) largest = larger<type>(largest, part.words[i]);
    return largest;
}

// One factor for each value of a part.
template <ValueType type, int count>
struct Factors {
    float by_value[values_in<type, count>];
};

// Codes of values 2 * pair and the next.
template <ValueType type, Element element, int count>
__device__ std::uint32_t code_pair(const Part<count>& part, int pair,
                                   const Factors<type, count>& factors) {
    constexpr int each = per_word<type>;
    const int first = 2 * pair, second = 2 * pair + 1;
    return fp8_pair<element>(
        value_of<type>(part.words[first / each], 0) * factors.by_value[first],
        value_of<type>(part.words[second / each], 1) * factors.by_value[second]);
}
// Of values 4 * quad to the fourth.
template <ValueType type, Element element, int count>
__device__ std::uint32_t code_quad(const Part<count>& part, int quad,
                                   const Factors<type, count>& factors) {
    return code_pair<type, element>(part, 2 * quad, factors) |
           code_pair<type, element>(part, 2 * quad + 1, factors) << 16;
}

template <ValueType type, Element element, int count>
__device__ void store_codes(std::uint8_t* at, const Part<count>& part,
                            const Factors<type, count>& factors) {
    constexpr int values = values_in<type, count>;
    static_assert(values == 1 || values == 2 || values == 4 || values == 8 || values == 16);
    const auto quad = [&](int i) { return code_quad<type, element>(part, i, factors); };
    if constexpr (values == 1)
        store(at, static_cast<std::uint8_t>(fp8_pair<element>(
                      value_of<type>(part.words[0], 0) * factors.by_value[0], 0.0f)));
    if constexpr (values == 2)
        store(at, static_cast<std::uint16_t>(code_pair<type, element>(part, 0, factors)));
    if constexpr (values == 4) store(at, quad(0));
    if constexpr (values == 8) store(at, uint2{quad(0), quad(1)});
    if constexpr (values == 16) store(at, uint4{quad(0), quad(1), quad(2), quad(3)});
}

}  // namespace mx::cuda
