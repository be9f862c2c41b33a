// See narrowing_limit.hpp. Of the forms tried (16 or 32 bytes a load, 2 to 16 loads in flight,
// cache hints, bulk copies through shared memory) none was faster on an H200.
#include "device/cuda/bench/narrowing_limit.hpp"

namespace mx::cuda {
namespace {

constexpr int threads = 64;
constexpr int loads = 4;
constexpr std::int64_t words_per_block = threads * loads * 4;

__global__ void __launch_bounds__(threads) keep(const uint4* words, std::uint32_t* bytes) {
    const std::int64_t warp = std::int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
    const std::int64_t first = warp * 32 * loads + threadIdx.x % 32;
    uint4 loaded[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) loaded[i] = __ldg(words + first + i * 32);
#pragma unroll
    for (int i = 0; i < loads; ++i)
        bytes[first + i * 32] = __byte_perm(__byte_perm(loaded[i].x, loaded[i].y, 0x0073),
                                            __byte_perm(loaded[i].z, loaded[i].w, 0x0073), 0x5410);
}

}  // namespace

cudaError_t keep_high_bytes(const std::uint8_t* words, std::uint8_t* bytes, std::int64_t count,
                            cudaStream_t stream) {
    if (count % words_per_block != 0) return cudaErrorInvalidValue;
    keep<<<static_cast<unsigned>(count / words_per_block), threads, 0, stream>>>(
        reinterpret_cast<const uint4*>(words), reinterpret_cast<std::uint32_t*>(bytes));
    return cudaGetLastError();
}

}  // namespace mx::cuda
