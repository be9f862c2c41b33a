// See tanh_sweep.hpp.
#include <cuda_runtime.h>

#include "conformance/sweep/gpu_calls.cuh"
#include "conformance/sweep/tanh_sweep.hpp"
#include "reference/fast/tanh_approx.hpp"

namespace mx::sweep {
namespace {

constexpr std::uint64_t inputs = std::uint64_t{1} << 32;
constexpr std::uint32_t inputs_per_thread = 256;
constexpr unsigned threads_per_block = 256;

struct Found {
    unsigned long long asked;
    unsigned long long count;
    unsigned long long lowest;  // ~input << 32 | actual: the largest is of the lowest input
};

__device__ std::uint32_t by_instruction(std::uint32_t bits) {
    float result;
    asm volatile("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(__uint_as_float(bits)));
    return __float_as_uint(result);
}

__global__ void __launch_bounds__(threads_per_block) compare(Found* found) {
    const std::uint32_t first = (blockIdx.x * threads_per_block + threadIdx.x) * inputs_per_thread;
    std::uint32_t asked = 0;
#pragma unroll 1
    for (std::uint32_t i = 0; i < inputs_per_thread; ++i) {
        const std::uint32_t actual = by_instruction(first + i);
        ++asked;
        if (actual == fast::tanh_approx(Code{first + i}).bits) continue;
        atomicAdd(&found->count, 1ull);
        atomicMax(&found->lowest, static_cast<unsigned long long>(~(first + i)) << 32 | actual);
    }
    count_asked(&found->asked, asked);
}

}  // namespace

Expected<TanhDifferences> compare_tanh() {
    GpuCalls calls;
    const GpuValue<Found> found(calls);
    GpuTimer timer(calls);
    constexpr auto blocks = static_cast<unsigned>(inputs / inputs_per_thread / threads_per_block);
    if (calls.ok()) compare<<<blocks, threads_per_block>>>(found.at());
    calls.note("the sweep of tanh.approx.f32", cudaGetLastError());
    const double seconds = timer.seconds();
    Found answer{};
    found.read(&answer);
    if (!calls.ok()) return calls.error();
    if (answer.asked != inputs) return unasked(answer.asked, inputs);
    return TanhDifferences{answer.count, ~static_cast<std::uint32_t>(answer.lowest >> 32),
                           static_cast<std::uint32_t>(answer.lowest), seconds};
}

}  // namespace mx::sweep
