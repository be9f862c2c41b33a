// Calls of "gemm" for the tests of this device: every tensor with the type, shape and layout that
// cuBLASLt takes, and without data.
#pragma once

#include <cstdint>
#include <vector>

#include "device/abi/mx_device.h"
#include "device/cublaslt/call_checks.hpp"

namespace mx::cublaslt::test {

inline constexpr std::uint32_t one = 0x3F800000, two = 0x40000000;  // of binary32

// What a test wants; the rest is as usual.
struct Asked {
    std::int64_t m = 16;
    std::int64_t n = 32;
    std::int64_t k = 64;
    std::int64_t batches = 1;
    const char* type_a = "e4m3";
    const char* type_b = "e4m3";
    const char* type_c = "f32";
    const char* type_d = "f32";
    const char* type_bias = "bf16";
    const char* scaling_a = "tensor";
    const char* scaling_b = "tensor";
    const char* scaling_out = nullptr;
    const char* epilogue = nullptr;
    const char* accumulation = nullptr;
    const char* algorithm = nullptr;
    std::uint32_t alpha = one;
    std::uint32_t beta = 0;
    std::int64_t padding = 0;  // elements between the rows of A, B, C and D
};

struct GemmCall {
    mx_gemm gemm;
    mx_operation operation;
    std::vector<mx_tensor> inputs;
    std::vector<mx_tensor> outputs;

    // Points into this object.
    Call call();
};

GemmCall call_of(const Asked& asked);

// What `work` refuses; MX_OK and "not refused" where it does not.
template <typename Work>
Refusal refusal_by(Work work) {
    try {
        work();
    } catch (const Refusal& refusal) {
        return refusal;
    }
    return {MX_OK, "not refused"};
}

// A strided tensor with its rows `padding` elements apart.
mx_tensor tensor(const char* type, Extents shape, std::int64_t padding = 0);

// The scales of elements of this shape, as cuBLASLt reads them.
mx_tensor scale_tensor(const char* scaling, Extents elements);

bool has_c(const Asked& asked);
bool has_bias(const Asked& asked);

}  // namespace mx::cublaslt::test
