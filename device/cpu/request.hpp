// One call of the device ABI, checked and turned into the device's own types. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "device/abi/mx_device.h"
#include "device/cpu/convert.hpp"
#include "device/cpu/dequantize.hpp"
#include "device/cpu/gemm.hpp"
#include "device/cpu/layouts.hpp"
#include "device/cpu/quantize.hpp"

namespace mx::cpu {

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

// What is to be done: on the caller's strided tensors, or on dense copies of others, which are
// unpacked before and packed after.
struct Work {
    std::variant<ConvertJob, EncodeScaleJob, QuantizeJob, DequantizeJob, GemmJob> job;
    std::vector<Staged> inputs;
    std::vector<Staged> outputs;
};

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

// One piece of work; two for axis "both", one after the other.
std::variant<std::vector<Work>, Refusal> works_of(const Call& call, Buffers buffers);

}  // namespace mx::cpu
