// One GEMM in the words of cuBLASLt: column-major, the first factor transposed. Made by request.cpp
// from a call, used by matmul.cpp. Plain data; must not call anything.
//
// D (M x N) = A (M x K) * B (N x K)^T of the ABI is row-major. The same bytes read column by column
// are D^T (N x M) = B^T^T * A^T: so the ABI's B is cuBLASLt's A with its scales, M and N change
// places, the bias runs along cuBLASLt's rows, and blocks along the rows of D lie along its
// columns.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/cublaslt/scaling.hpp"

namespace mx::cublaslt {

// Column-major, of one batch; strides in elements.
struct Matrix {
    void* data = nullptr;
    cudaDataType_t type = CUDA_R_32F;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t leading = 0;
    std::int64_t batch_stride = 0;
};

struct Scale {
    void* data = nullptr;  // NULL: there is none
    cublasLtMatmulMatrixScale_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    std::int64_t bytes = 0;
};

// Something of the problem that not every GPU has.
struct Need {
    std::string what;
    Capabilities capabilities;
};

struct Problem {
    Matrix a, b, c, d;
    Scale scale_a, scale_b, scale_d, scale_out;
    void* bias = nullptr;
    cudaDataType_t bias_type = CUDA_R_32F;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    std::int8_t fast_accumulation = 0;
    std::int32_t batches = 1;
    std::uint32_t alpha = 0;  // bits of binary32
    std::uint32_t beta = 0;
    std::string algorithm;  // "": the first that cuBLASLt offers
    // Of split-K, that may be offered. Without any no algorithm splits K.
    std::uint32_t reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
    std::vector<Need> needs;

    bool writes_nothing() const { return d.rows == 0 || d.columns == 0; }
};

}  // namespace mx::cublaslt
