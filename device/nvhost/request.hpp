// What the host asks, with every name turned into a choice and every shape checked, or a refusal in
// one sentence. Knows which questions NVIDIA's headers answer; computes nothing.
#pragma once

#include <cstdint>

#include "device/abi/mx_device.h"
#include "device/nvhost/tensor.hpp"
#include "device/nvhost/vendor.hpp"

namespace mx::nvhost {

enum class Action { convert, cast_to_scale, encode_scale, quantize, dequantize };
enum class Axis { row, col };

struct Request {
    Action action = Action::convert;
    Element element = Element::e4m3;
    Axis axis = Axis::row;
    std::int64_t block_lanes = 32;
    Conversion elements, scales_cast;       // how elements of convert, and scales, are rounded
    ValueType value_type = ValueType::f32;  // of the input, or of what dequantize writes
    Tensor values, codes, scales;           // those that the operation has
};

// The arguments of `supports` and `run` as they came.
struct Call {
    const mx_operation* operation;
    const mx_tensor* inputs;
    std::size_t input_count;
    const mx_tensor* outputs;
    std::size_t output_count;
    mx_message* message;
};

// MX_OK and a filled request, or the status to return with its sentence in call.message.
mx_status read_request(const Call& call, Request& request);

// MX_OK unless a tensor that has elements has no data.
mx_status check_data(const Call& call);

}  // namespace mx::nvhost
