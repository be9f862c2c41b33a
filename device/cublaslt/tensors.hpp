// Tensors of a call as this device sees them: which types and layouts it knows and where their
// bytes lie. Used by the reader of requests and by staging. Must not call cuBLASLt.
#pragma once

#include <library_types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "device/cublaslt/scaling.hpp"
#include "device/kit/call.hpp"

namespace mx::cublaslt {

using Call = kit::Arguments;
using kit::in_double_quotes;
using kit::tensor_at;
using kit::text_of;

// A type of elements, as cuBLASLt calls it.
struct Type {
    std::string_view name;
    cudaDataType_t id;
    std::int64_t bits;
    Capabilities capabilities;

    // FP8 and FP4, for which cuBLASLt has rules of its own.
    bool is_narrow() const { return bits <= 8; }
    std::int64_t bytes_of(std::int64_t elements) const { return elements * bits / 8; }
};
const Type* find_type(std::string_view name);

std::string shape_text(const mx_tensor& tensor);
std::int64_t rounded_up(std::int64_t count, std::int64_t unit);

// Whether the layout of the tensor is "strided", "packed-low" or "128x4".
bool has_known_layout(const mx_tensor& tensor);

// True when the offset in bytes of every element, and their number, fit 64 bits, and no stride is
// negative.
bool is_addressable(const mx_tensor& tensor);

// Bytes from the first byte of a tensor, which is_addressable, to the end of its last element or
// pad.
std::int64_t byte_extent(const mx_tensor& tensor);

// Whether the tensor lies in the memory of the GPU already.
bool is_on_gpu(const mx_tensor& tensor);

}  // namespace mx::cublaslt
