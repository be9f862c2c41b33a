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
// An answer, not a failure: cuBLASLt has nothing for this problem.
struct CublasNo {
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
// Of a call that asks whether cuBLASLt can do something: it says no with any of these, as the case
// may be. Of a call that only sets up the question they are failures of ours.
inline void check_answer(cublasStatus_t status, const char* doing) {
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
        status == CUBLAS_STATUS_ARCH_MISMATCH)
        throw CublasNo{status, doing};
    check(status, doing);
}
inline void check(cudaError_t error, const char* doing) {
    if (error != cudaSuccess) throw CudaFailure{error, doing};
}

}  // namespace mx::cublaslt
