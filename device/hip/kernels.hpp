// The kernels as functions, each of which puts its launches on the default stream and returns.
// Pointers are device pointers. Used by plugin.hip.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "device/cuda/real_scale.hpp"
#include "device/cuda/types.hpp"

namespace mx::hip {

hipError_t quantize(const cuda::BlockJob& job);
hipError_t dequantize(const cuda::BlockJob& job);

// `amax` is a word of the GPU for the amax of the tensor, where quantize finds it.
hipError_t quantize(const cuda::RealScaleJob& job, std::uint32_t* amax);
hipError_t dequantize(const cuda::RealScaleJob& job);

}  // namespace mx::hip
