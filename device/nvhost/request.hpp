// What the host asks, with every name turned into a choice and every shape checked, or a refusal in
// one sentence. Knows which questions NVIDIA's headers answer; computes nothing.
#pragma once

#include <cstdint>

#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"
#include "device/nvhost/vendor.hpp"

namespace mx::nvhost {

enum class Action { convert, cast_to_scale, encode_scale, quantize, dequantize };

struct Request {
    Action action = Action::convert;
    Element element = Element::e4m3;
    kit::Blocks blocks;
    Conversion elements, scales_cast;       // how elements of convert, and scales, are rounded
    ValueType value_type = ValueType::f32;  // of the input, or of what dequantize writes
    kit::Strided values, codes, scales;     // those that the operation has
};

// Refuses what the headers do not determine.
Request read_request(const kit::Arguments& arguments, kit::Buffers buffers);

}  // namespace mx::nvhost
