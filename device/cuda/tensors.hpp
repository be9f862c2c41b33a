// Tensors of a call as this device sees them: which layouts it knows and where their bytes lie.
// Used by the reader of requests. Must not compute.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/cuda/types.hpp"
#include "device/kit/blocks.hpp"

namespace mx::cuda {

using kit::Axis;

// Scales in a layout of their own, or a strided tensor of anything. Padded to whole tiles of so
// many rows and columns.
struct Layout {
    std::string_view name;
    ScaleOrder order;
    std::int64_t row_tile;
    std::int64_t column_tile;
    std::string_view axis;  // of the blocks that it is for; "" for every one
};
const Layout* find_layout(std::string_view name);

// True when the offset in bytes of every element, and their number, fit 64 bits, and no stride is
// negative.
bool is_addressable(const mx_tensor& tensor, const Layout& layout);

Plane plane_of(const mx_tensor& tensor);

// The scales of blocks along rows or columns, their lines as the kernels count them.
ScalePlane scale_plane_of(const mx_tensor& tensor, const Layout& layout, Axis axis);

}  // namespace mx::cuda
