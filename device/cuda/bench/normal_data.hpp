// Values for measuring and for tests on the GPU: never zeros. Used by the benchmark and the tests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cuda/types.hpp"

namespace mx::cuda {

struct Fill {
    ValueType type;
    std::uint64_t seed;
};

// Normal values, the spread of each run of 1024 another power of two from 2^-4 to 2^3.
cudaError_t fill_normal(std::uint8_t* data, std::int64_t count, Fill fill, cudaStream_t stream);

// Any bytes.
cudaError_t fill_bits(std::uint8_t* data, std::int64_t bytes, std::uint64_t seed,
                      cudaStream_t stream);

// How many bytes differ, added to *count, which lies on the GPU.
cudaError_t count_differences(const std::uint8_t* left, const std::uint8_t* right,
                              std::int64_t bytes, unsigned long long* count, cudaStream_t stream);

}  // namespace mx::cuda
