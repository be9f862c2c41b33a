// A thread's part of a block down the columns: a few words of each of 32 memory rows, and the
// largest magnitudes of its columns. Used by the kernels that quantize across the memory of the
// values.
#pragma once

#include <cstdint>

#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {

template <int words>
using ColumnRows = Part<words>[block_lanes];

// All rows are asked for before the first is used.
template <int words>
__device__ void load_rows(const std::uint8_t* at, std::int64_t step, ColumnRows<words>& rows) {
#pragma unroll
    for (Part<words>& row : rows) {
        load(at, row);
        at += step;
    }
}

// The largest magnitudes of the columns, as they lie in a row.
template <ValueType type, int words>
__device__ Part<words> column_amax(NanPolicy policy, const ColumnRows<words>& rows) {
    Part<words> amax{};
#pragma unroll
    for (const Part<words>& row : rows) amax = larger<type>(amax, magnitudes<type>(row));
    // Seldom, so that the common way pays for one comparison only.
    if (policy == NanPolicy::own_lane && has_nan<type>(amax)) {
        amax = {};
#pragma unroll
        for (const Part<words>& row : rows)
            amax = larger<type>(amax, without_nan<type>(magnitudes<type>(row)));
    }
    return amax;
}

// The scale of one of the columns.
template <ValueType type, int words>
__device__ std::uint8_t column_scale(const ScaleRule& rule, const Part<words>& amax, int column) {
    const std::uint32_t word = amax.words[column / per_word<type>];
    return scale_of(rule, f32_bits<type>(lane_of<type>(word, column % per_word<type>)));
}

}  // namespace mx::cuda
