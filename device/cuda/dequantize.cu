// Dequantizing FP8 in blocks of 32 along memory. A thread makes 16 bytes of values at a time, and
// its loads come before their first use; neighbours write neighbouring bytes.
#include "device/cuda/element.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/scale.cuh"
#include "device/cuda/values.cuh"

namespace mx::cuda {
namespace {

template <ValueType type>
constexpr int values_per_store = 16 / width_of(type);
// Values that a warp stores at once, and what it takes of a line, in two steps. More steps do not
// have more loads on their way here, where most bytes are written.
template <ValueType type>
constexpr int warp_step = warp_lanes* values_per_store<type>;
constexpr int steps = 2;
template <ValueType type>
constexpr int warp_values = steps* warp_step<type>;
constexpr int back_warps_log2 = 4;
constexpr int back_threads = threads_of<back_warps_log2>;
constexpr int registers = 32;  // so that a multiprocessor takes as many threads as it can

// What place_of grows by from one step to the next, in either order: a step is whole tiles.
template <ValueType type>
std::int64_t scale_step(const ScalePlane& scales) {
    constexpr std::int64_t step_blocks = warp_step<type> / block_lanes;
    static_assert(step_blocks % 4 == 0);
    return scales.order == ScaleOrder::strided ? step_blocks * scales.block_stride
                                               : step_blocks / 4 * 512;
}

// The codes of 16 bytes of values.
template <ValueType type>
__device__ uint2 load_codes(const std::uint8_t* at, KeptLines kept) {
    if constexpr (type == ValueType::f32) return {load_4(at, kept), 0};
    return load_8(at, kept);
}

// Two values, in one word or two.
template <ValueType type, Element element>
__device__ uint2 values_of(std::uint32_t codes, float scale) {
    const std::uint32_t halves = half_pair<element>(codes);
    const float first = float_of_half(halves & 0xFFFFu) * scale;
    const float second = float_of_half(halves >> 16) * scale;
    if constexpr (type == ValueType::f32)
        return {__float_as_uint(first), __float_as_uint(second)};
    else
        return {packed_values<type>(first, second), 0};
}

template <ValueType type, Element element>
__device__ void store_values(std::uint8_t* at, const uint2& codes, float scale) {
    const uint2 a = values_of<type, element>(codes.x, scale);
    const uint2 b = values_of<type, element>(codes.x >> 16, scale);
    if constexpr (type == ValueType::f32) {
        store(at, uint4{a.x, a.y, b.x, b.y});
    } else {
        store(at, uint4{a.x, b.x, values_of<type, element>(codes.y, scale).x,
                        values_of<type, element>(codes.y >> 16, scale).x});
    }
}

template <ValueType type, Element element>
__global__ void __maxnreg__(registers)
    dequantize_lines(BlockJob job, int across_log2, std::int64_t next_scale) {
    constexpr int step_values = values_per_store<type>;
    constexpr int step = warp_step<type>;
    const WarpPlace place = warp_place<back_warps_log2>(across_log2);
    const std::int64_t first = place.strip * warp_values<type> + place.lane * step_values;
    const std::int64_t left = job.extent.lanes - first;
    const KeptLines kept;
    for (std::int64_t line = place.line; line < job.extent.lines; line += place.line_step) {
        const std::uint8_t* codes = job.codes.data + line * job.codes.line_stride + first;
        std::uint8_t* values =
            job.values.data + (line * job.values.line_stride + first) * width_of(type);
        const std::uint8_t* from =
            job.scales.data + place_of(job.scales, {line, first / block_lanes});
        uint2 loaded[steps] = {};
        std::uint8_t scales[steps] = {};
#pragma unroll
        for (int i = 0; i < steps; ++i)
            if (i * step < left) {
                loaded[i] = load_codes<type>(codes + i * step, kept);
                scales[i] = load_1(from + i * next_scale, kept);
            }
#pragma unroll
        for (int i = 0; i < steps; ++i)
            if (i * step < left)
                store_values<type, element>(values + i * warp_lanes * 16, loaded[i],
                                            value_of_scale(scales[i]));
    }
}

template <ValueType type>
void start(const BlockJob& job, cudaStream_t stream) {
    const Tiling tiling = tiling_of<back_warps_log2>(
        {job.extent.lines, (job.extent.lanes + warp_values<type> - 1) / warp_values<type>});
    if (job.recipe.element == Element::e4m3)
        dequantize_lines<type, Element::e4m3><<<tiling.grid, back_threads, 0, stream>>>(
            job, tiling.across_log2, scale_step<type>(job.scales));
    else
        dequantize_lines<type, Element::e5m2><<<tiling.grid, back_threads, 0, stream>>>(
            job, tiling.across_log2, scale_step<type>(job.scales));
}

}  // namespace

cudaError_t dequantize_rows(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
