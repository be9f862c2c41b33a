// Calls of CUDA and cuBLASLt that fail, as exceptions that plugin.cpp turns into a status.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string>

namespace mx::cublaslt {

struct CublasFailure {
    cublasStatus_t status;
    std::string doing;
};
struct CudaFailure {
    cudaError_t error;
    std::string doing;
};

inline void check(cublasStatus_t status, const char* doing) {
    if (status != CUBLAS_STATUS_SUCCESS) throw CublasFailure{status, doing};
}
inline void check(cudaError_t error, const char* doing) {
    if (error != cudaSuccess) throw CudaFailure{error, doing};
}

}  // namespace mx::cublaslt
