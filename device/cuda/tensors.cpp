// See tensors.hpp.
#include "device/cuda/tensors.hpp"

#include <array>
#include <utility>

#include "device/cuda/request.hpp"
#include "device/cuda/rules.hpp"

namespace mx::cuda {
namespace {

using kit::text_of;

// Row-major over a padded grid is a matter of strides.
constexpr std::array layouts{
    Layout{"strided", ScaleOrder::strided, 1, 1, ""},
    Layout{"128x4", ScaleOrder::tiles_128x4, 128, 4, "row"},
    Layout{"128x4-col", ScaleOrder::tiles_128x4, 4, 128, "col"},
    Layout{"te-padded", ScaleOrder::strided, 128, 4, "row"},
    Layout{"te-padded-col", ScaleOrder::strided, 4, 128, "col"},
};

std::int64_t padded(std::int64_t count, std::int64_t tile) {
    return (count + tile - 1) / tile * tile;
}
bool is_padded(const Layout& layout) {
    return layout.row_tile != 1;
}
std::int64_t width_of_tensor(const mx_tensor& tensor) {
    const auto type = find_value_type(text_of(tensor.type));
    return type ? width_of(*type) : 1;
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
    plane.tiles_across = padded(blocks, 4) / 4;
    return plane;
}

std::int64_t byte_extent(const mx_tensor& tensor) {
    if (tensor.rows == 0 || tensor.columns == 0) return 0;
    const Layout& layout = *find_layout(text_of(tensor.layout));
    if (is_padded(layout))
        return padded(tensor.rows, layout.row_tile) * padded(tensor.columns, layout.column_tile);
    const std::int64_t last =
        (tensor.rows - 1) * tensor.row_stride + (tensor.columns - 1) * tensor.column_stride;
    return (last + 1) * width_of_tensor(tensor);
}

bool is_on_gpu(const mx_tensor& tensor) {
    return text_of(tensor.place) == "cuda";
}

}  // namespace mx::cuda
