// Quantizing FP8 in whole blocks of 32 along memory. Each thread of a warp loads 32 bytes of a line
// a few times, all before the first use, and neighbours load neighbouring bytes, so that a few
// neighbours share a block. Each keeps the scale of one of its loads, and the warp writes its 32
// scales at once.
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int words = 8;
constexpr int part_bytes = 4 * words;
template <ValueType type>
constexpr int load_values = values_in<type, words>;
// Threads that share a block, and loads of a thread.
template <ValueType type>
constexpr int sharers = block_lanes / load_values<type>;
template <ValueType type>
constexpr int warp_step = warp_lanes* load_values<type>;
template <ValueType type>
constexpr int warp_values = sharers<type>* warp_step<type>;
static_assert(warp_values<ValueType::f32> == warp_lanes * block_lanes, "a scale for each thread");

// The largest magnitude of the block that this part belongs to.
template <ValueType type>
__device__ std::uint32_t block_amax(const Part<words>& values, NanPolicy policy) {
    const Part<words> part = magnitudes<type>(values);
    std::uint32_t amax = folded<type>(larger_word<type>(part));
    if (policy == NanPolicy::own_lane && amax > infinity_of<type>)
        amax = folded<type>(larger_word<type>(without_nan<type>(part)));
#pragma unroll
    for (int apart = sharers<type> / 2; apart > 0; apart /= 2)
        amax = max(amax, __shfl_xor_sync(0xFFFFFFFFu, amax, apart));
    return amax;
}

template <ValueType type, Element element>
__global__ void __launch_bounds__(threads_per_block) quantize_lines(BlockJob job, int across_log2) {
    const WarpPlace place = warp_place(across_log2);
    const std::int64_t first = place.strip * warp_values<type> + place.lane * load_values<type>;
    const std::int64_t left = job.extent.lanes - first;
    const int turn = place.lane % sharers<type>;
    const std::int64_t block = place.strip * warp_lanes + turn * (warp_step<type> / block_lanes) +
                               place.lane / sharers<type>;
    const ScaleRule rule = job.recipe.rule;
    for (std::int64_t line = place.line; line < job.extent.lines; line += place.line_step) {
        const std::uint8_t* values =
            job.values.data + (line * job.values.line_stride + first) * width_of(type);
        std::uint8_t* codes = job.codes.data + line * job.codes.line_stride + first;
        Part<words> parts[sharers<type>] = {};
#pragma unroll
        for (int i = 0; i < sharers<type>; ++i)
            if (i * warp_step<type> < left) load(values + i * warp_lanes * part_bytes, parts[i]);
        std::uint8_t kept = 0;
#pragma unroll
        for (int i = 0; i < sharers<type>; ++i) {
            const std::uint32_t amax = block_amax<type>(parts[i], rule.nan_policy);
            const std::uint8_t scale = scale_of(rule, f32_bits<type>(amax));
            if (turn == i) kept = scale;
            Factors<type, words> factors;
#pragma unroll
            for (float& factor : factors.by_value) factor = factor_of(scale);
            if (i * warp_step<type> < left)
                store_codes<type, element>(codes + i * warp_step<type>, parts[i], factors);
        }
        if (block * block_lanes < job.extent.lanes)
            job.scales.data[place_of(job.scales, {line, block})] = kept;
    }
}

template <ValueType type>
void start(const BlockJob& job, cudaStream_t stream) {
    const Tiling tiling = tiling_of(
        {job.extent.lines, (job.extent.lanes + warp_values<type> - 1) / warp_values<type>});
    if (job.recipe.element == Element::e4m3)
        quantize_lines<type, Element::e4m3>
            <<<tiling.grid, threads_per_block, 0, stream>>>(job, tiling.across_log2);
    else
        quantize_lines<type, Element::e5m2>
            <<<tiling.grid, threads_per_block, 0, stream>>>(job, tiling.across_log2);
}

}  // namespace

cudaError_t quantize_rows(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
