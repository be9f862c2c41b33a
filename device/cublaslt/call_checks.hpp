// What every call for "gemm" has to hold: operation, places, layouts, strides. Used by the readers
// of requests, device/hopper's too. Calls neither CUDA nor cuBLASLt.
#pragma once

#include <string>
#include <string_view>

#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt {

using kit::Buffers;
using kit::invalid;
using kit::not_supported;
using kit::Refusal;

struct GemmChecks {
    std::string_view speaker;  // of the sentence that refuses another operation
    // What is wrong with a layout, after the tensor's name; "" where nothing is. May be NULL.
    std::string (*layout_refusal)(const mx_tensor& tensor) = nullptr;
};
// The first thing that is wrong is thrown as a Refusal.
const mx_gemm& checked_gemm(const Call& call, Buffers buffers, GemmChecks checks);

}  // namespace mx::cublaslt
