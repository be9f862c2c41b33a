// The general arithmetic of device/cuda, compiled for an AMD GPU. One thread quantizes one block,
// or dequantizes one element. Right before fast: nothing is tuned. UNVERIFIED: it never ran on a
// GPU.
#include "device/hip/kernels.hpp"

#include <hip/hip_runtime.h>

#include "device/cuda/blocks.cuh"
#include "device/cuda/real_scale_blocks.cuh"

#if defined(__CUDA_ARCH__)
#error "for AMD GPUs: device/cuda is for NVIDIA's"
#endif

namespace mx::hip {
namespace {

using namespace mx::cuda;

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 1 << 20;  // the kernel loops over the rest

template <typename Action>
__global__ void __launch_bounds__(threads) for_each_cell_of(Extent grid, Action action) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    for (; i < grid.lines * grid.lanes; i += step) action(Extent{i / grid.lanes, i % grid.lanes});
}

template <typename Action>
hipError_t start(Extent grid, Action action) {
    const std::int64_t wanted = (grid.lines * grid.lanes + threads - 1) / threads;
    if (wanted == 0) return hipSuccess;
    for_each_cell_of<<<static_cast<unsigned>(smaller(wanted, most_blocks)), threads>>>(grid,
                                                                                       action);
    return hipGetLastError();
}

// Raises *amax, which is 0, to the amax of the tensor.
hipError_t find_amax(const RealScaleJob& job, std::uint32_t* amax) {
    return start(run_grid(job),
                 [=] __device__(Extent run) { atomicMax(amax, amax_of_run(job, run)); });
}

hipError_t start_codes(const RealScaleJob& job, const std::uint32_t* amax) {
    if (!is_whole_tensor(job))
        return start(item_grid(job), [=] __device__(Extent item) {
            quantize_item(job, setting_of(job, *amax), item);
        });
    // One block for all threads; the first stores its scale, of an empty tensor too.
    constexpr std::int64_t team = 1 << 16;
    return start({1, team}, [=] __device__(Extent thread) {
        const BlockSetting setting = setting_of(job, *amax);
        encode(job, setting, real_block_at(job, {0, 0}), *amax, {thread.lanes, team});
    });
}

}  // namespace

hipError_t quantize(const BlockJob& job) {
    const Extent grid = block_grid(job);
    const hipError_t error = start(padded_grid(job.scales, grid), [=] __device__(Extent cell) {
        clear_if_pad(job.scales, grid, cell);
    });
    if (error != hipSuccess) return error;
    return start(grid, [=] __device__(Extent cell) { quantize_block(job, cell); });
}

hipError_t dequantize(const BlockJob& job) {
    return start(job.extent, [=] __device__(Extent cell) { dequantize_element(job, cell); });
}

hipError_t quantize(const RealScaleJob& job, std::uint32_t* amax) {
    hipError_t error = hipMemset(amax, 0, sizeof *amax);
    if (error == hipSuccess && (job.source == NumberSource::derived || is_whole_tensor(job)))
        error = find_amax(job, amax);
    if (error == hipSuccess)
        error = start({1, 1}, [=] __device__(Extent) { store_kept(job, setting_of(job, *amax)); });
    if (error == hipSuccess)
        error = start(padded_grid(job), [=] __device__(Extent cell) { clear_if_pad(job, cell); });
    return error == hipSuccess ? start_codes(job, amax) : error;
}

hipError_t dequantize(const RealScaleJob& job) {
    return start(job.extent, [=] __device__(Extent cell) { dequantize_element(job, cell); });
}

}  // namespace mx::hip
