// What a quantizer's memory traffic alone takes. Used by the benchmark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mx::cuda {

// Reads `count` words of 4 bytes and writes a byte of each. As error: no multiple of 1024.
cudaError_t keep_high_bytes(const std::uint8_t* words, std::uint8_t* bytes, std::int64_t count,
                            cudaStream_t stream);

}  // namespace mx::cuda
