// The kernels as functions: each puts its launches on a stream and returns; none allocates, waits
// or touches the host, but for find_code_path, which waits. Pointers are device pointers. Used by
// the plug-in, the tests and the benchmark, and by anybody who wants the quantizer without mxcheck.
//
// What they return after a launch is cudaGetLastError(), which consumes the last error: one that an
// earlier call of the same thread left behind is returned here, too, and gone afterwards.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cuda/real_scale.hpp"
#include "device/cuda/types.hpp"

namespace mx::cuda {

// Any extent, any strides, any alignment, blocks of any size. MXFP8 in blocks of 32 runs at the
// speed of memory where the values of a row lie side by side, and
// - blocks along rows: so do its codes; pointers and row strides of both are multiples of 16 bytes;
// - blocks down columns: so do its codes; pointers and row strides of the values are multiples of 4
//   bytes, and those of the codes of as many as 4 bytes hold values: 1 for float32, otherwise 2;
// - blocks down columns, the codes of a column side by side: pointers and row strides of the values
//   are multiples of 8 bytes, the codes' pointer and the stride from column to column of 16.
// Partial last blocks and everything else take any.cu, one thread a block.
// Scales in tiles: pads are written as 0. All scales begin at line 0 and block 0 of their grid;
// otherwise the answer is cudaErrorInvalidValue, of each function that takes a ScalePlane.
cudaError_t quantize(const BlockJob& job, cudaStream_t stream);

// Both directions. From one read when the shape is in whole blocks both ways and values and both
// codes fulfil the condition of blocks along rows; otherwise as two calls of quantize.
cudaError_t quantize_both(const BothJob& job, cudaStream_t stream);

// Fast for blocks along rows, under the same condition; otherwise any.cu, one thread an element.
cudaError_t dequantize(const BlockJob& job, cudaStream_t stream);
// Both any.cu, one thread an element.
cudaError_t convert(const ConvertJob& job, cudaStream_t stream);
cudaError_t encode_scales(const EncodeScaleJob& job, cudaStream_t stream);

// Blocks whose scale has a mantissa, by any rule: any extent, any strides, any alignment, general
// kernels (real_scale.cu). NVFP4 in whole blocks along rows, by the rules of nvfp4_rules.hpp, from
// float32 and bfloat16 to codes two a byte runs at the speed of memory (nvfp4_rows.cu) where the
// values of a row lie side by side, their pointer and row stride are multiples of 16 bytes, the
// codes' pointer is one of 8, and scales in tiles of 128 x 4 begin at one of 16.
// `amax` is a word of the GPU that quantize uses where it has to find the amax of the tensor.
cudaError_t quantize_real_scales(const RealScaleJob& job, std::uint32_t* amax, cudaStream_t stream);
// One thread an element.
cudaError_t dequantize_real_scales(const RealScaleJob& job, cudaStream_t stream);

// Which code this GPU runs, asked of the code itself. All of it is compiled ahead.
struct CodePath {
    int binary_version;         // 90: for compute capability 9.0
    bool has_scale_conversion;  // the instruction cvt to ue8m0x2, or integer arithmetic
};
cudaError_t find_code_path(CodePath& path);

}  // namespace mx::cuda
