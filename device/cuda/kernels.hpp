// The kernels as functions: each puts its launches on a stream and returns; none allocates, waits
// or touches the host. Pointers are device pointers. Used by the plug-in, the tests and the
// benchmark, and by anybody who wants the quantizer without mxcheck.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/types.hpp"

namespace mx::cuda {

// Any extent, any strides, any alignment, blocks of any size. MXFP8 in blocks of 32 that lie along
// or across memory, from pointers aligned to 16 bytes, runs at the speed of memory; partial last
// blocks and everything else take a kernel that handles every case.
// Scales in tiles: pads are written as 0.
cudaError_t quantize(const BlockJob& job, cudaStream_t stream);

// Both directions. From one read when the shape is in whole blocks both ways and the pointers are
// aligned; otherwise as two calls of quantize.
cudaError_t quantize_both(const BothJob& job, cudaStream_t stream);

cudaError_t dequantize(const BlockJob& job, cudaStream_t stream);
cudaError_t convert(const ConvertJob& job, cudaStream_t stream);
cudaError_t encode_scales(const EncodeScaleJob& job, cudaStream_t stream);

// How the code that this GPU runs was made, asked of the code itself.
struct CodePath {
    int binary_version;         // 90: compiled ahead for compute capability 9.0
    int ptx_version;            // another number where the driver compiled it
    bool has_scale_conversion;  // the instruction cvt to ue8m0x2, or integer arithmetic
};
cudaError_t find_code_path(CodePath& path);

}  // namespace mx::cuda
