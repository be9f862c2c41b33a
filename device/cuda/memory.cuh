// Loads and stores of the fast kernels, and a warp's place.
#pragma once

#include <cstdint>

#include "device/cuda/launch.hpp"
#include "device/cuda/types.hpp"

namespace mx::cuda {

__device__ inline uint4 load_16(const std::uint8_t* at) {
    return __ldg(reinterpret_cast<const uint4*>(at));
}
__device__ inline uint2 load_8(const std::uint8_t* at) {
    return __ldg(reinterpret_cast<const uint2*>(at));
}
__device__ inline std::uint32_t load_4(const std::uint8_t* at) {
    return __ldg(reinterpret_cast<const unsigned*>(at));
}
// Loads whose lines both caches are asked to keep longest. On an H200 this is worth up to 2 % to a
// dequantizer, which writes most of its bytes; a quantizer loses with every hint on its loads.
struct KeptLines {
    std::uint64_t policy;
    __device__ KeptLines() {
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    }
};
__device__ inline uint2 load_8(const std::uint8_t* at, KeptLines kept) {
    uint2 bytes;
    asm("ld.global.L1::evict_last.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
        : "=r"(bytes.x), "=r"(bytes.y)
        : "l"(at), "l"(kept.policy));
    return bytes;
}
__device__ inline std::uint32_t load_4(const std::uint8_t* at, KeptLines kept) {
    std::uint32_t bytes;
    asm("ld.global.L1::evict_last.L2::cache_hint.u32 %0, [%1], %2;"
        : "=r"(bytes)
        : "l"(at), "l"(kept.policy));
    return bytes;
}
__device__ inline std::uint8_t load_1(const std::uint8_t* at, KeptLines kept) {
    std::uint32_t byte;
    asm("ld.global.L1::evict_last.L2::cache_hint.u8 %0, [%1], %2;"
        : "=r"(byte)
        : "l"(at), "l"(kept.policy));
    return static_cast<std::uint8_t>(byte);
}
__device__ inline void store(std::uint8_t* at, uint4 bytes) {
    *reinterpret_cast<uint4*>(at) = bytes;
}
__device__ inline void store(std::uint8_t* at, uint2 bytes) {
    *reinterpret_cast<uint2*>(at) = bytes;
}
__device__ inline void store(std::uint8_t* at, std::uint32_t bytes) {
    *reinterpret_cast<unsigned*>(at) = bytes;
}
__device__ inline void store(std::uint8_t* at, std::uint16_t bytes) {
    *reinterpret_cast<unsigned short*>(at) = bytes;
}
__device__ inline void store(std::uint8_t* at, std::uint8_t byte) {
    *reinterpret_cast<unsigned char*>(at) = byte;
}

// A warp's place; see Tiling.
struct WarpPlace {
    std::int64_t strip;
    std::int64_t line;
    std::int64_t line_step;
    int lane;
};
template <int log2 = warps_log2>
__device__ WarpPlace warp_place(int across_log2) {
    const unsigned warp = threadIdx.x / 32;
    const unsigned down_log2 = log2 - static_cast<unsigned>(across_log2);
    WarpPlace place;
    place.lane = static_cast<int>(threadIdx.x % 32);
    place.strip =
        (static_cast<std::int64_t>(blockIdx.x) << across_log2) + (warp & ((1u << across_log2) - 1));
    place.line = (static_cast<std::int64_t>(blockIdx.y) << down_log2) + (warp >> across_log2);
    place.line_step = static_cast<std::int64_t>(gridDim.y) << down_log2;
    return place;
}

}  // namespace mx::cuda
