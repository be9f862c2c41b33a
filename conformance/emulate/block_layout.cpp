// See block_layout.hpp.
#include "conformance/emulate/block_layout.hpp"

#include "reference/problem/problem.hpp"
#include "reference/spec/assert.hpp"

namespace mx::emulate {
namespace {

std::int64_t blocks_of(std::int64_t length, std::int64_t block) {
    return length / block + (length % block != 0 ? 1 : 0);
}

}  // namespace

std::int64_t product(std::span<const std::int64_t> lengths) {
    std::int64_t result = 1;
    for (const std::int64_t length : lengths) result *= length;
    return result;
}

Expected<BlockLayout> layout_of(std::span<const std::int64_t> shape, const BlockShape& blocks) {
    MX_ASSERT(blocks.block > 0 || blocks.axis == BlockAxis::tensor);
    const auto bad = [&shape](const std::string& what) {
        return bad_input("a tensor of shape " + data::shape_text(shape) + " " + what);
    };
    if (shape.empty()) return bad("has no dimension for blocks to lie along");
    const bool is_tensor = blocks.axis == BlockAxis::tensor;
    const bool by_row = blocks.axis == BlockAxis::row || is_tensor;
    if (!by_row && shape.size() == 1)
        return bad("has one dimension, and blocks of axis " + std::string(name_of(blocks.axis)) +
                   " need two");
    const std::size_t last = shape.size() - 1;
    BlockLayout layout;
    layout.shape.assign(shape.begin(), shape.end());
    layout.columns = shape[last];
    layout.rows = by_row ? product(shape.first(last)) : shape[last - 1];
    layout.slices = by_row ? 1 : product(shape.first(last - 1));
    if (is_tensor) {
        layout.block_rows = layout.block_columns = 1;
        layout.scale_shape = {1, 1};
        return layout;
    }
    layout.block_rows = by_row ? layout.rows : blocks_of(layout.rows, blocks.block);
    layout.block_columns =
        blocks.axis == BlockAxis::col ? layout.columns : blocks_of(layout.columns, blocks.block);
    layout.scale_shape = layout.shape;
    layout.scale_shape[last] = layout.block_columns;
    if (!by_row) layout.scale_shape[last - 1] = layout.block_rows;
    return layout;
}

}  // namespace mx::emulate
