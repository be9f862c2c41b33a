// Names and layouts of a call as this device's own rules and types, or a refusal. Used by
// request.cpp and gemm_request.cpp. Must not compute.
#pragma once

#include <cstdint>

#include "device/cpu/layouts.hpp"
#include "device/cpu/request.hpp"
#include "device/cpu/rules.hpp"
#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"

namespace mx::cpu {

inline Extent extent_of(const kit::Tensor& tensor) {
    return {tensor.raw().rows, tensor.raw().columns};
}
inline Plane plane_of(const kit::Tensor& tensor) {
    return {static_cast<std::uint8_t*>(tensor.raw().data), tensor.raw().row_stride,
            tensor.raw().column_stride};
}

// That every tensor lies in the host's memory, in a layout that this device knows, and ends within
// an address space.
void check_tensors(const kit::Call& call);

ElementType element_format(const mx_operation& operation);
ElementType block_format(const mx_operation& operation);
DialectRule dialect_rule(const mx_operation& operation, ElementType element);
ScaleRule cast_rule(const mx_operation& operation);
// Where the dialect decides nothing it may be absent, but not unknown.
void check_dialect(const mx_operation& operation);
RoundingName rounding(const mx_operation& operation);
OverflowMode overflow(const mx_operation& operation);
Subnormals subnormals(const mx_operation& operation);

// Of a strided tensor of values.
ValueType value_type(const kit::Tensor& tensor);

// The layout of a tensor of codes or scales, known to suit its type and the blocks.
Layout layout_of_codes(const kit::Tensor& tensor, ElementType element);
Layout layout_of_scales(const kit::Tensor& tensor, kit::Axis axis);
void check_inline(const kit::Tensor& codes, const kit::Blocks& blocks, ElementType element);

}  // namespace mx::cpu
