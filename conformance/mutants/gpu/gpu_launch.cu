// Starts the kernel; see gpu_launch.hpp. Compiled once as it stands and once by gpu_launch_fast.cu.
#include "conformance/mutants/gpu/gpu_launch.hpp"

#include "conformance/mutants/gpu/gpu_kernel.cuh"

#ifndef MX_GPU_KERNEL_NAME
#define MX_GPU_KERNEL_NAME exact_kernel
#endif

namespace mx::mutants::gpu {
namespace {

// Keeps the stream busy for about a millisecond, as other work on the GPU might: results that are
// copied too early are then always too early.
__global__ void be_busy() {
    constexpr long long cycles = 2000000;
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// A row a thread block, down gridDim.y, where a further row is taken when one is done.
cudaError_t start_kernels(const Job& job, cudaStream_t stream) {
    constexpr std::int64_t grid_largest = 65535;
    const bool is_capped = job.rows > grid_largest && job.bug != Bug::launch_error_ignored;
    const dim3 grid(1, static_cast<unsigned>(is_capped ? grid_largest : job.rows));
    be_busy<<<1, 1, 0, stream>>>();
    quantize_tiles<<<grid, tile_threads, 0, stream>>>(job);
    const cudaError_t error = cudaGetLastError();
    return job.bug == Bug::launch_error_ignored ? cudaSuccess : error;
}

cudaError_t look_at_kernel(cudaFuncAttributes& attributes) {
    return cudaFuncGetAttributes(&attributes, quantize_tiles);
}

}  // namespace

const Kernel MX_GPU_KERNEL_NAME{start_kernels, look_at_kernel};

}  // namespace mx::mutants::gpu
