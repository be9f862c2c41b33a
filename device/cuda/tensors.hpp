// Tensors of a call as this device sees them: which layouts it knows and where their bytes lie.
// Used by the reader of requests. Must not compute.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/cuda/real_scale.hpp"
#include "device/cuda/types.hpp"
#include "device/kit/blocks.hpp"

namespace mx::cuda {

using kit::Axis;

// Scales in a layout of their own, codes of 4 bits in one, or a strided tensor of anything. Scales
// are padded to whole tiles of so many rows and columns.
enum class LayoutKind { strided, scales, small_tiles, codes, with_scales };
struct Layout {
    std::string_view name;
    LayoutKind kind;
    ScaleOrder order;
    std::int64_t row_tile;
    std::int64_t column_tile;
    std::string_view axis;  // of the blocks that it is for; "" for every one
    TileOrder tiles = TileOrder::none;
    CodeOrder codes = CodeOrder::bytes;
};
const Layout* find_layout(std::string_view name);

// True when the offset in bytes of every element, and their number, fit 64 bits, and no stride is
// negative.
bool is_addressable(const mx_tensor& tensor, const Layout& layout);

Plane plane_of(const mx_tensor& tensor);

// Codes of blocks of that axis, in any layout that may hold them.
CodePlane code_plane_of(const mx_tensor& tensor, const Layout& layout, const kit::Blocks& blocks);

// The scales of blocks along rows or columns, their lines as the kernels count them.
ScalePlane scale_plane_of(const mx_tensor& tensor, const Layout& layout, Axis axis);

// The scales that lie among the codes, each behind its block.
ScalePlane scales_among(const mx_tensor& codes);

}  // namespace mx::cuda
