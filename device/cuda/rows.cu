// Quantizing FP8 in whole blocks of 32 along memory. A thread takes 16 values at a time, side by
// side, so that it stores 16 bytes of codes and a warp stores whole cache lines; two neighbours
// share a block. It loads 64 bytes before the first use.
//
// Of one long line a thread block takes a run, whose scales cross shared memory, so that they are
// stored in whole sectors. Of many lines each warp has its own; a thread keeps the scale of one of
// its blocks, and the warp writes them at once.
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

// Of float32 a thread loads once and of 16 bits twice; whole sectors of scales either way.
constexpr int run_threads = 512;
constexpr int run_step = run_threads * load_values;
// Shared memory that nobody uses: with it two thread blocks of values of 16 bits find room on a
// multiprocessor of an H200, and with four, at work in more places of the memory at once, the whole
// took 0.8 % longer.
template <ValueType type>
constexpr int spare_bytes = type == ValueType::f32 ? 0 : 30 * 1024;
constexpr int shared_percent = 28;  // 64 KB on an H200; the rest is cache
template <ValueType type>
constexpr int run_values = run_step* loads<type>;
template <ValueType type>
constexpr int run_blocks = run_values<type> / block_lanes;
static_assert(run_blocks<ValueType::bf16> <= run_threads, "a thread stores one");

// Whole runs of a line.
template <ValueType type, Element element>
__global__ void __launch_bounds__(run_threads) quantize_runs(BlockJob job) {
    __shared__ std::uint8_t scales[run_blocks<type>];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t run = blockIdx.x;
    const std::uint8_t* values = job.values.data + run * (run_values<type> * width_of(type)) +
                                 thread * (load_values * width_of(type));
    std::uint8_t* codes = job.codes.data + run * run_values<type> + thread * load_values;
    const ScaleRule rule = job.recipe.rule;
    Part<words<type>> parts[loads<type>];
#pragma unroll
    for (int i = 0; i < loads<type>; ++i) load(values + i * run_step * width_of(type), parts[i]);
#pragma unroll
    for (int i = 0; i < loads<type>; ++i) {
        const std::uint8_t scale =
            scale_of(rule, f32_bits<type>(block_amax<type>(parts[i], rule.nan_policy)));
        if (thread % sharers == 0) scales[(i * run_threads + thread) / sharers] = scale;
        Factors<type, words<type>> factors;
#pragma unroll
        for (float& factor : factors.by_value) factor = factor_of(scale);
        store_codes<type, element>(codes + i * run_step, parts[i], factors);
    }
    __syncthreads();
    if (thread < run_blocks<type>)
        job.scales.data[place_of(job.scales, {0, run * run_blocks<type> + thread})] =
            scales[thread];
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

template <ValueType type, Element element>
void start_lines(const BlockJob& job, cudaStream_t stream) {
    const std::int64_t strips = (job.extent.lanes + warp_values<type> - 1) / warp_values<type>;
    const Tiling tiling = tiling_of<row_warps_log2>({job.extent.lines, strips});
    quantize_lines<type, element><<<tiling.grid, row_threads, 0, stream>>>(job, tiling.across_log2);
}

// One line: runs, and what is left of it.
template <ValueType type, Element element>
void start_line(BlockJob job, cudaStream_t stream) {
    const std::int64_t runs = job.extent.lanes / run_values<type>;
    if (runs > 0 && spare_bytes<type> != 0)
        cudaFuncSetAttribute(quantize_runs<type, element>,
                             cudaFuncAttributePreferredSharedMemoryCarveout, shared_percent);
    if (runs > 0)
        quantize_runs<type, element>
            <<<static_cast<unsigned>(runs), run_threads, spare_bytes<type>, stream>>>(job);
    const std::int64_t done = runs * run_values<type>;
    job.extent.lanes -= done;
    job.values.data += done * width_of(type);
    job.codes.data += done;
    job.scales.first_block += done / block_lanes;
    if (job.extent.lanes > 0) start_lines<type, element>(job, stream);
}

template <ValueType type, Element element>
void start_as(const BlockJob& job, cudaStream_t stream) {
    if (job.extent.lines == 1)
        start_line<type, element>(job, stream);
    else
        start_lines<type, element>(job, stream);
}

template <ValueType type>
void start(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.element == Element::e4m3) start_as<type, Element::e4m3>(job, stream);
    if (job.recipe.element == Element::e5m2) start_as<type, Element::e5m2>(job, stream);
}

}  // namespace

cudaError_t quantize_rows(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
