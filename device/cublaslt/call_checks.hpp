// Why a call of the device ABI is not served, and what every call for "gemm" has to hold: structs,
// places, shapes. Used by the readers of requests, device/hopper's too. Calls neither CUDA nor
// cuBLASLt.
#pragma once

#include <string>
#include <string_view>

#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt {

// MX_NOT_SUPPORTED or MX_INVALID, with a sentence. Thrown by the checks.
struct Refusal {
    mx_status status;
    std::string reason;
};
[[noreturn]] void invalid(std::string reason);
[[noreturn]] void not_supported(std::string reason);

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

struct GemmChecks {
    std::string_view speaker;  // of the sentence that refuses another operation
    // What is wrong with a layout, after the tensor's name; "" where nothing is. May be NULL.
    std::string (*layout_refusal)(const mx_tensor& tensor) = nullptr;
};
// The first thing that is wrong is thrown as a Refusal.
const mx_gemm& checked_gemm(const Call& call, Buffers buffers, const GemmChecks& checks);

}  // namespace mx::cublaslt
