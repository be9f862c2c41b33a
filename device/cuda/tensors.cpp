// See tensors.hpp.
#include "device/cuda/tensors.hpp"

#include <array>
#include <utility>

#include "device/cuda/request.hpp"

namespace mx::cuda {
namespace {

using kit::text_of;

// Row-major over a padded grid is a matter of strides.
constexpr auto strided = ScaleOrder::strided, tiles_128x4 = ScaleOrder::tiles_128x4;
constexpr std::array layouts{
    Layout{"strided", LayoutKind::strided, strided, 1, 1, ""},
    Layout{"128x4", LayoutKind::scales, tiles_128x4, 128, 4, "row"},
    Layout{"128x4-col", LayoutKind::scales, tiles_128x4, 4, 128, "col"},
    Layout{"te-padded", LayoutKind::scales, strided, 128, 4, "row"},
    Layout{"te-padded-col", LayoutKind::scales, strided, 4, 128, "col"},
    Layout{"8x4", LayoutKind::small_tiles, strided, 8, 4, "row", TileOrder::tiles_8x4},
    Layout{"8x4-col", LayoutKind::small_tiles, strided, 4, 8, "col", TileOrder::tiles_8x4},
    Layout{"32x8", LayoutKind::small_tiles, strided, 32, 8, "row", TileOrder::tiles_32x8},
    Layout{"32x8-col", LayoutKind::small_tiles, strided, 8, 32, "col", TileOrder::tiles_32x8},
    Layout{"packed-low", LayoutKind::codes, strided, 1, 1, "", TileOrder::none,
           CodeOrder::low_first},
    Layout{"packed-high", LayoutKind::codes, strided, 1, 1, "", TileOrder::none,
           CodeOrder::high_first},
    Layout{"inline", LayoutKind::with_scales, strided, 1, 1, "row", TileOrder::none,
           CodeOrder::low_first},
};

std::int64_t padded(std::int64_t count, std::int64_t tile) {
    return (count + tile - 1) / tile * tile;
}
bool is_padded(const Layout& layout) {
    return layout.row_tile != 1;
}
// Of codes whose blocks have their scale byte behind them.
std::int64_t codes_each(const mx_tensor& tensor) {
    return (tensor.column_stride - 1) * 2;
}

}  // namespace

const Layout* find_layout(std::string_view name) {
    for (const Layout& layout : layouts)
        if (layout.name == name) return &layout;
    return nullptr;
}

bool is_addressable(const mx_tensor& tensor, const Layout& layout) {
    constexpr std::int64_t longest = std::int64_t{1} << 58;  // so that padding overflows nothing
    constexpr std::int64_t widest = 4;
    if (tensor.rows > longest || tensor.columns > longest) return false;
    if (tensor.row_stride < 0 || tensor.column_stride < 0) return false;
    std::int64_t down = 0, across = 0, offset = 0, count = 0;
    const std::int64_t rows = padded(tensor.rows, layout.row_tile);
    const std::int64_t columns = padded(tensor.columns, layout.column_tile);
    return !__builtin_mul_overflow(tensor.rows, tensor.row_stride, &down) &&
           !__builtin_mul_overflow(tensor.columns, tensor.column_stride, &across) &&
           !__builtin_add_overflow(down, across, &offset) &&
           !__builtin_mul_overflow(offset, widest, &offset) &&
           !__builtin_mul_overflow(rows, columns, &count) &&
           !__builtin_mul_overflow(count, widest, &count);
}

Plane plane_of(const mx_tensor& tensor) {
    return {static_cast<std::uint8_t*>(tensor.data), tensor.row_stride, tensor.column_stride};
}

ScalePlane scale_plane_of(const mx_tensor& tensor, const Layout& layout, Axis axis) {
    ScalePlane plane{static_cast<std::uint8_t*>(tensor.data),
                     layout.order,
                     tensor.row_stride,
                     tensor.column_stride,
                     0,
                     0,
                     0};
    if (is_padded(layout)) {
        plane.line_stride = padded(tensor.columns, layout.column_tile);
        plane.block_stride = 1;
    }
    if (axis == Axis::column) std::swap(plane.line_stride, plane.block_stride);
    const std::int64_t blocks = axis == Axis::column ? tensor.rows : tensor.columns;
    const std::int64_t tile = layout.tiles == TileOrder::tiles_32x8 ? 8 : 4;
    plane.tiles_across = padded(blocks, tile) / tile;
    return plane;
}

ScalePlane scales_among(const mx_tensor& codes) {
    auto* const data = static_cast<std::uint8_t*>(codes.data);
    return {data == nullptr ? nullptr : data + codes.column_stride - 1,
            ScaleOrder::strided,
            codes.row_stride,
            codes.column_stride,
            0,
            0,
            0};
}

CodePlane code_plane_of(const mx_tensor& tensor, const Layout& layout, const kit::Blocks& blocks) {
    const bool is_turned = blocks.axis == Axis::column;
    const bool is_inline = layout.kind == LayoutKind::with_scales;
    CodePlane plane{static_cast<std::uint8_t*>(tensor.data),
                    layout.codes,
                    tensor.row_stride,
                    tensor.column_stride,
                    is_turned,
                    is_inline ? tensor.row_stride : padded(tensor.columns, 2) / 2,
                    is_inline ? codes_each(tensor) : padded(tensor.columns, 2) + 2,
                    is_inline ? tensor.column_stride : 0,
                    is_inline};
    if (is_turned) std::swap(plane.line_stride, plane.lane_stride);
    return plane;
}

std::int64_t byte_extent(const mx_tensor& tensor) {
    if (tensor.rows == 0 || tensor.columns == 0) return 0;
    const Layout& layout = *find_layout(text_of(tensor.layout));
    if (is_padded(layout))
        return padded(tensor.rows, layout.row_tile) * padded(tensor.columns, layout.column_tile);
    if (layout.kind == LayoutKind::codes) return tensor.rows * (padded(tensor.columns, 2) / 2);
    if (layout.kind == LayoutKind::with_scales)
        return (tensor.rows - 1) * tensor.row_stride + padded(tensor.columns, codes_each(tensor)) /
                                                           codes_each(tensor) *
                                                           tensor.column_stride;
    const std::int64_t last =
        (tensor.rows - 1) * tensor.row_stride + (tensor.columns - 1) * tensor.column_stride;
    return (last + 1) * kit::width_of(text_of(tensor.type));
}

bool is_on_gpu(const mx_tensor& tensor) {
    return text_of(tensor.place) != "host";
}

}  // namespace mx::cuda
