// Quantizing FP8 in whole blocks of 32 along memory. A thread takes 16 values at a time, side by
// side, so that it stores 16 bytes of codes and a warp stores whole cache lines; two neighbours
// share a block. It loads 64 bytes before the first use. Each keeps the scale of one of its blocks,
// and the warp writes its scales at once.
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int row_warps_log2 = 3;
constexpr int row_threads = threads_of<row_warps_log2>;
constexpr int thread_bytes = 64;

constexpr int load_values = 16;
constexpr int sharers = block_lanes / load_values;
constexpr int warp_step = warp_lanes * load_values;
template <ValueType type>
constexpr int words = load_values / per_word<type>;
template <ValueType type>
constexpr int loads = thread_bytes / (load_values * width_of(type));
template <ValueType type>
constexpr int warp_values = loads<type>* warp_step;
template <ValueType type>
constexpr int warp_blocks = warp_values<type> / block_lanes;
static_assert(loads<ValueType::bf16> <= sharers, "a thread keeps one scale");

// The largest magnitude of the block that this part belongs to.
template <ValueType type>
__device__ std::uint32_t block_amax(const Part<words<type>>& values, NanPolicy policy) {
    const Part<words<type>> part = magnitudes<type>(values);
    std::uint32_t amax = folded<type>(larger_word<type>(part));
    if (policy == NanPolicy::own_lane && amax > infinity_of<type>)
        amax = folded<type>(larger_word<type>(without_nan<type>(part)));
#pragma unroll
    for (int apart = sharers / 2; apart > 0; apart /= 2)
        amax = max(amax, __shfl_xor_sync(0xFFFFFFFFu, amax, apart));
    return amax;
}

template <ValueType type, Element element>
__global__ void __launch_bounds__(row_threads) quantize_lines(BlockJob job, int across_log2) {
    const WarpPlace place = warp_place<row_warps_log2>(across_log2);
    const std::int64_t first = place.strip * warp_values<type> + place.lane * load_values;
    const std::int64_t left = job.extent.lanes - first;
    const int turn = place.lane % sharers;
    const std::int64_t block =
        place.strip * warp_blocks<type> + turn * (warp_step / block_lanes) + place.lane / sharers;
    const bool has_scale = turn < loads<type> && block * block_lanes < job.extent.lanes;
    const ScaleRule rule = job.recipe.rule;
    for (std::int64_t line = place.line; line < job.extent.lines; line += place.line_step) {
        const std::uint8_t* values =
            job.values.data + (line * job.values.line_stride + first) * width_of(type);
        std::uint8_t* codes = job.codes.data + line * job.codes.line_stride + first;
        Part<words<type>> parts[loads<type>] = {};
#pragma unroll
        for (int i = 0; i < loads<type>; ++i)
            if (i * warp_step < left) load(values + i * warp_step * width_of(type), parts[i]);
        std::uint8_t kept = 0;
#pragma unroll
        for (int i = 0; i < loads<type>; ++i) {
            const std::uint32_t amax = block_amax<type>(parts[i], rule.nan_policy);
            const std::uint8_t scale = scale_of(rule, f32_bits<type>(amax));
            if (turn == i) kept = scale;
            Factors<type, words<type>> factors;
#pragma unroll
            for (float& factor : factors.by_value) factor = factor_of(scale);
            if (i * warp_step < left)
                store_codes<type, element>(codes + i * warp_step, parts[i], factors);
        }
        if (has_scale) job.scales.data[place_of(job.scales, {line, block})] = kept;
    }
}

template <ValueType type>
void start(const BlockJob& job, cudaStream_t stream) {
    const Tiling tiling = tiling_of<row_warps_log2>(
        {job.extent.lines, (job.extent.lanes + warp_values<type> - 1) / warp_values<type>});
    if (job.recipe.element == Element::e4m3)
        quantize_lines<type, Element::e4m3>
            <<<tiling.grid, row_threads, 0, stream>>>(job, tiling.across_log2);
    else
        quantize_lines<type, Element::e5m2>
            <<<tiling.grid, row_threads, 0, stream>>>(job, tiling.across_log2);
}

}  // namespace

cudaError_t quantize_rows(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
