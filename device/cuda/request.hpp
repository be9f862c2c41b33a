// One call of the device ABI, checked and turned into a job of this device. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute, and calls nothing of CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "device/abi/mx_device.h"
#include "device/cuda/types.hpp"

namespace mx::cuda {

// The arguments of supports and run.
struct Call {
    const mx_operation* operation;
    const mx_tensor* inputs;
    std::size_t input_count;
    const mx_tensor* outputs;
    std::size_t output_count;
};

// Why a call is not served: MX_NOT_SUPPORTED or MX_INVALID, with a sentence.
struct Refusal {
    mx_status status;
    std::string reason;
};

struct QuantizeJob {
    BlockJob blocks;
};
struct DequantizeJob {
    BlockJob blocks;
};
using Job = std::variant<QuantizeJob, BothJob, DequantizeJob, ConvertJob, EncodeScaleJob>;

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

// A job that points to what the tensors point to, wherever that lies.
std::variant<Job, Refusal> job_of(const Call& call, Buffers buffers);

// Tensor `index` of an array whose own struct_size says where each begins.
const mx_tensor& tensor_at(const mx_tensor* first, std::size_t index);

// Bytes from the first byte of a tensor, which job_of has accepted, to the end of its last element
// or pad.
std::int64_t byte_extent(const mx_tensor& tensor);

// Whether the tensor lies in the memory of the GPU already.
bool is_on_gpu(const mx_tensor& tensor);

}  // namespace mx::cuda
