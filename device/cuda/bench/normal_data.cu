// See normal_data.hpp. A value is a pure function of the seed and its place.
#include "device/cuda/bench/normal_data.hpp"
#include "device/cuda/element.cuh"

namespace mx::cuda {
namespace {

constexpr int threads = 256;
constexpr unsigned blocks = 4096;

__device__ std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}
__device__ std::int64_t item_step() {
    return static_cast<std::int64_t>(gridDim.x) * threads;
}

// The finalizer of SplitMix64.
__device__ std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

__device__ float normal_at(std::uint64_t seed, std::int64_t place) {
    const std::uint64_t bits = mixed(seed ^ static_cast<std::uint64_t>(place));
    const std::uint64_t run = mixed(~seed ^ static_cast<std::uint64_t>(place / 1024));
    const float radius = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
    const float angle = static_cast<float>(bits & 0xFFFFFF) * 0x1p-23f;
    return sqrtf(-2.0f * logf(radius)) * cospif(angle) *
           power_of_two(static_cast<int>(run % 8) - 4);
}

template <ValueType type>
__global__ void fill_values(std::uint8_t* data, std::int64_t count, std::uint64_t seed) {
    for (std::int64_t i = first_item(); i < count; i += item_step()) {
        const std::uint32_t bits = packed_values<type>(normal_at(seed, i), 0.0f);
        if constexpr (type == ValueType::f32)
            reinterpret_cast<std::uint32_t*>(data)[i] = bits;
        else
            reinterpret_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(bits);
    }
}

__global__ void fill_bytes(std::uint8_t* data, std::int64_t bytes, std::uint64_t seed) {
    for (std::int64_t i = first_item(); i < bytes; i += item_step())
        data[i] = static_cast<std::uint8_t>(mixed(seed ^ static_cast<std::uint64_t>(i)) >> 56);
}

__global__ void count_bytes(const std::uint8_t* left, const std::uint8_t* right, std::int64_t bytes,
                            unsigned long long* count) {
    unsigned long long found = 0;
    for (std::int64_t i = first_item(); i < bytes; i += item_step()) found += left[i] != right[i];
    if (found != 0) atomicAdd(count, found);
}

}  // namespace

cudaError_t fill_normal(std::uint8_t* data, std::int64_t count, Fill fill, cudaStream_t stream) {
    if (fill.type == ValueType::f32)
        fill_values<ValueType::f32><<<blocks, threads, 0, stream>>>(data, count, fill.seed);
    if (fill.type == ValueType::bf16)
        fill_values<ValueType::bf16><<<blocks, threads, 0, stream>>>(data, count, fill.seed);
    if (fill.type == ValueType::f16)
        fill_values<ValueType::f16><<<blocks, threads, 0, stream>>>(data, count, fill.seed);
    return cudaGetLastError();
}

cudaError_t fill_bits(std::uint8_t* data, std::int64_t bytes, std::uint64_t seed,
                      cudaStream_t stream) {
    fill_bytes<<<blocks, threads, 0, stream>>>(data, bytes, seed);
    return cudaGetLastError();
}

cudaError_t count_differences(const std::uint8_t* left, const std::uint8_t* right,
                              std::int64_t bytes, unsigned long long* count, cudaStream_t stream) {
    count_bytes<<<blocks, threads, 0, stream>>>(left, right, bytes, count);
    return cudaGetLastError();
}

}  // namespace mx::cuda
