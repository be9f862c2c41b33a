// One call of the device ABI, checked and turned into a problem of cuBLASLt. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute, and calls neither CUDA nor cuBLASLt.
#pragma once

#include <string>
#include <variant>

#include "device/cublaslt/problem.hpp"
#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt {

// Why a call is not served: MX_NOT_SUPPORTED or MX_INVALID, with a sentence.
struct Refusal {
    mx_status status;
    std::string reason;
};

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

// A problem that points to what the tensors point to, wherever that lies.
std::variant<Problem, Refusal> problem_of(const Call& call, Buffers buffers);

}  // namespace mx::cublaslt
