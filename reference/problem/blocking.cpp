// See blocking.hpp.
#include "reference/problem/blocking.hpp"

#include <algorithm>

namespace mx {
namespace {

// The rows and columns of a tensor that one block takes, before the tensor's edge cuts it.
GridShape block_extent(const Blocking& t) {
    if (t.axis == BlockAxis::tensor)
        return {std::max<std::int64_t>(t.rows, 1), std::max<std::int64_t>(t.columns, 1)};
    return {t.axis == BlockAxis::row ? 1 : t.block, t.axis == BlockAxis::col ? 1 : t.block};
}

// Block number `line` of a tile of axis both: its row of that number, or in every other tile, as on
// a chessboard, its column. A tile at the tensor's edge may lack it.
BlockPlace place_in_tile(const Blocking& t, std::int64_t block) {
    const std::int64_t block_columns = block_grid(t).block_columns;
    const std::int64_t line = block % t.block;
    const std::int64_t tile_row = block / block_columns;
    const std::int64_t tile_column = block % block_columns / t.block;
    const std::int64_t row = tile_row * t.block, column = tile_column * t.block;
    const std::int64_t height = std::min(t.block, t.rows - row);
    const std::int64_t width = std::min(t.block, t.columns - column);
    const std::int64_t first = row * t.columns + column;
    const std::size_t step = static_cast<std::size_t>(t.columns);
    if ((tile_row + tile_column) % 2 == 0)
        return {static_cast<std::size_t>(first + line * t.columns), static_cast<std::size_t>(width),
                step, line < height ? static_cast<int>(width) : 0};
    return {static_cast<std::size_t>(first + line), 1, step,
            line < width ? static_cast<int>(height) : 0};
}

}  // namespace

std::int64_t lanes_of(const Blocking& t) {
    if (!t.has_blocks) return block_size;
    if (t.axis == BlockAxis::tensor) return std::max<std::int64_t>(t.rows * t.columns, 1);
    return t.axis == BlockAxis::tile ? t.block * t.block : t.block;
}

BlockGrid block_grid(const Blocking& t) {
    const auto blocks = [](std::int64_t length, std::int64_t block) {
        return (length + block - 1) / block;
    };
    if (!t.has_blocks) return {1, blocks(t.rows * t.columns, block_size)};
    if (t.axis == BlockAxis::tensor) return {1, 1};
    if (t.axis == BlockAxis::both)
        return {blocks(t.rows, t.block), blocks(t.columns, t.block) * t.block};
    const GridShape extent = block_extent(t);
    return {blocks(t.rows, extent.rows), blocks(t.columns, extent.columns)};
}

BlockPlace place_of(const Blocking& t, std::int64_t block) {
    if (!t.has_blocks) {
        const std::int64_t first = block * block_size;
        const std::int64_t count = std::min(block_size, t.rows * t.columns - first);
        return {static_cast<std::size_t>(first), static_cast<std::size_t>(block_size), 0,
                static_cast<int>(count)};
    }
    if (t.axis == BlockAxis::both) return place_in_tile(t, block);
    const GridShape extent = block_extent(t);
    const std::int64_t block_columns = block_grid(t).block_columns;
    const std::int64_t row = block / block_columns * extent.rows;
    const std::int64_t column = block % block_columns * extent.columns;
    const std::int64_t height = std::min(extent.rows, t.rows - row);
    const std::int64_t width = std::min(extent.columns, t.columns - column);
    return {static_cast<std::size_t>(row * t.columns + column), static_cast<std::size_t>(width),
            static_cast<std::size_t>(t.columns), static_cast<int>(height * width)};
}

LanePlace lane_of(const Blocking& t, std::size_t element) {
    const std::int64_t at = static_cast<std::int64_t>(element);
    if (!t.has_blocks) return {at / block_size, static_cast<int>(at % block_size)};
    MX_ASSERT(t.axis != BlockAxis::both);
    const GridShape extent = block_extent(t);
    const std::int64_t row = at / t.columns, column = at % t.columns;
    const std::int64_t block_column = column / extent.columns;
    const std::int64_t width = std::min(extent.columns, t.columns - block_column * extent.columns);
    return {row / extent.rows * block_grid(t).block_columns + block_column,
            static_cast<int>(row % extent.rows * width + column % extent.columns)};
}

}  // namespace mx
