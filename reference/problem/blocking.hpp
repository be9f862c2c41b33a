// How a tensor is cut into blocks, and where the elements of each block lie. Used by everything
// that walks over blocks; knows shapes alone, no formats and no bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/layouts.hpp"

namespace mx {

// Elements of a block unless a problem says otherwise, and of a group where there are no blocks.
inline constexpr std::int64_t block_size = 32;

// A tensor and its blocks. Without blocks, 32 elements in row-major order count as one, so that
// every element has one place.
struct Blocking {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    BlockAxis axis = BlockAxis::row;
    std::int64_t block = block_size;  // k; of axis tensor it says nothing
    bool has_blocks = true;

    bool operator==(const Blocking&) const = default;
};

// Elements of a whole block: k, k * k for tiles, those of the tensor, if any, for axis tensor.
std::int64_t lanes_of(const Blocking& tensor);

// The grid of blocks over the tensor. For axis both these are the blocks of the data alone: k in
// each tile of kxk, along its rows and down its columns by turns, so that data made for a block
// reach both directions. What a device writes has the grids of both axes.
struct BlockGrid {
    std::int64_t block_rows = 0;
    std::int64_t block_columns = 0;
    std::int64_t count() const { return block_rows * block_columns; }
};
BlockGrid block_grid(const Blocking& tensor);

// Where the lanes of a block lie: line after line of `width` neighbours, `line_step` elements from
// line to line. Lanes of a block that is cut off by the tensor's edge count those that exist.
struct BlockPlace {
    std::size_t first = 0;
    std::size_t width = 1;
    std::size_t line_step = 0;
    int count = 0;

    std::size_t element(int lane) const {
        const std::size_t at = static_cast<std::size_t>(lane);
        return first + at / width * line_step + at % width;
    }
};
BlockPlace place_of(const Blocking& tensor, std::int64_t block);

// Block and lane of an element: the inverse of place_of. Not for axis both, where an element lies
// in two blocks: ask for each axis.
struct LanePlace {
    std::int64_t block = 0;
    int lane = 0;
};
LanePlace lane_of(const Blocking& tensor, std::size_t element);

}  // namespace mx
