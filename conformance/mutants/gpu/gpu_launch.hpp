// The kernel of the planted bugs, compiled twice: as it should be, and with --use_fast_math, which
// is the one bug that is no line of the source.
#pragma once

#include <cuda_runtime_api.h>

#include "conformance/mutants/gpu/gpu_request.hpp"

namespace mx::mutants::gpu {

// How the GPU starts it, and whether it has code for this GPU at all.
struct Kernel {
    cudaError_t (*launch)(const Job& job, cudaStream_t stream);
    cudaError_t (*look)(cudaFuncAttributes& attributes);
};

extern const Kernel exact_kernel, fast_math_kernel;

}  // namespace mx::mutants::gpu
