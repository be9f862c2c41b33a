// The kernels that take every job of blocks whose scale has a mantissa. One thread quantizes one
// block; a thread block quantizes one of more than 256 elements; all threads one that is the whole
// tensor, once its amax is known. One thread dequantizes one element.
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/real_scale_blocks.cuh"

namespace mx::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t largest_of_a_thread = 256;  // elements

unsigned blocks_for(std::int64_t count, std::int64_t most) {
    const std::int64_t wanted = (count + threads - 1) / threads;
    return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}
constexpr std::int64_t many = 1 << 20;  // the kernels loop over the rest
constexpr std::int64_t few = 1 << 11;   // each of which ends with one atomic operation

__device__ std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}
__device__ std::int64_t item_step() {
    return static_cast<std::int64_t>(gridDim.x) * threads;
}

MX_CUDA_BOTH std::int64_t count_of(Extent grid) {
    return grid.lines * grid.lanes;
}

// Item number i of a grid, the direction that memory runs in first.
__device__ Extent cell_of(std::int64_t item, Extent grid, const Plane& plane) {
    if (plane.lane_stride <= plane.line_stride) return {item / grid.lanes, item % grid.lanes};
    return {item % grid.lines, item / grid.lines};
}

// The largest of a thread block, in its first thread.
__device__ std::uint32_t largest_of_threads(std::uint32_t bits) {
    __shared__ std::uint32_t of_warps[threads / warp_lanes];
    bits = __reduce_max_sync(0xFFFFFFFFu, bits);
    if (threadIdx.x % warp_lanes == 0) of_warps[threadIdx.x / warp_lanes] = bits;
    __syncthreads();
    for (const std::uint32_t of_warp : of_warps) bits = larger_bits(bits, of_warp);
    return bits;
}

__global__ void __launch_bounds__(threads) find_amax(RealScaleJob job, std::uint32_t* amax) {
    const Extent grid = run_grid(job);
    std::uint32_t largest = 0;
    for (std::int64_t i = first_item(); i < count_of(grid); i += item_step())
        largest = larger_bits(largest, amax_of_run(job, cell_of(i, grid, job.values)));
    largest = largest_of_threads(largest);
    if (threadIdx.x == 0) atomicMax(amax, largest);
}

__device__ BlockSetting setting_of_kernel(const RealScaleJob& job, const std::uint32_t* amax) {
    const BlockSetting setting = setting_of(job, job.source == NumberSource::derived ? *amax : 0);
    if (first_item() == 0) store_kept(job, setting);
    return setting;
}

__global__ void __launch_bounds__(threads)
    quantize_items(RealScaleJob job, const std::uint32_t* amax) {
    const BlockSetting setting = setting_of_kernel(job, amax);
    const Extent grid = item_grid(job);
    for (std::int64_t i = first_item(); i < count_of(grid); i += item_step())
        quantize_item(job, setting, cell_of(i, grid, job.values));
}

__global__ void __launch_bounds__(threads)
    quantize_large_blocks(RealScaleJob job, const std::uint32_t* amax) {
    __shared__ std::uint32_t of_block;
    const BlockSetting setting = setting_of_kernel(job, amax);
    const Extent grid = block_grid(job);
    const Team team{threadIdx.x, threads};
    for (std::int64_t i = blockIdx.x; i < count_of(grid); i += gridDim.x) {
        const RealBlock block = real_block_at(job, {i / grid.lanes, i % grid.lanes});
        const std::uint32_t largest = largest_of_threads(amax_of(job, block, team));
        if (threadIdx.x == 0) of_block = largest;
        __syncthreads();
        encode(job, setting, block, of_block, team);
    }
}

__global__ void __launch_bounds__(threads)
    quantize_tensor(RealScaleJob job, const std::uint32_t* amax) {
    const BlockSetting setting = setting_of_kernel(job, amax);
    encode(job, setting, real_block_at(job, {0, 0}), *amax, {first_item(), item_step()});
}

__global__ void __launch_bounds__(threads) dequantize_elements(RealScaleJob job) {
    for (std::int64_t i = first_item(); i < count_of(job.extent); i += item_step())
        dequantize_element(job, cell_of(i, job.extent, job.values));
}

__global__ void __launch_bounds__(threads) clear_pads(RealScaleJob job) {
    const Extent padded = padded_grid(job);
    for (std::int64_t i = first_item(); i < count_of(padded); i += item_step())
        clear_if_pad(job, {i / padded.lanes, i % padded.lanes});
}

cudaError_t start_clearing_pads(const RealScaleJob& job, cudaStream_t stream) {
    const std::int64_t count = count_of(padded_grid(job));
    if (count == 0) return cudaSuccess;
    clear_pads<<<blocks_for(count, many), threads, 0, stream>>>(job);
    return cudaGetLastError();
}

}  // namespace

cudaError_t find_real_amax(const RealScaleJob& job, std::uint32_t* amax, cudaStream_t stream) {
    find_amax<<<blocks_for(count_of(run_grid(job)), few), threads, 0, stream>>>(job, amax);
    return cudaGetLastError();
}

cudaError_t quantize_real_any(const RealScaleJob& job, const std::uint32_t* amax,
                              cudaStream_t stream) {
    const cudaError_t error = start_clearing_pads(job, stream);
    if (error != cudaSuccess) return error;
    if (is_whole_tensor(job)) {
        const unsigned blocks = blocks_for(count_of(job.extent), many);
        quantize_tensor<<<blocks, threads, 0, stream>>>(job, amax);
    } else if (count_of(job.block) > largest_of_a_thread) {
        const unsigned blocks = blocks_for(count_of(block_grid(job)) * threads, many);
        quantize_large_blocks<<<blocks, threads, 0, stream>>>(job, amax);
    } else {
        const unsigned blocks = blocks_for(count_of(item_grid(job)), many);
        quantize_items<<<blocks, threads, 0, stream>>>(job, amax);
    }
    return cudaGetLastError();
}

cudaError_t dequantize_real_scales(const RealScaleJob& job, cudaStream_t stream) {
    if (count_of(job.extent) == 0) return cudaSuccess;
    const unsigned blocks = blocks_for(count_of(job.extent), many);
    dequantize_elements<<<blocks, threads, 0, stream>>>(job);
    return cudaGetLastError();
}

}  // namespace mx::cuda
