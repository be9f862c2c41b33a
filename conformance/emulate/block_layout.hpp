// A tensor of any rank as a row of two-dimensional slices, and the shape of its scales. Used by
// everything that quantizes whole tensors; knows no bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"
#include "reference/base/status.hpp"
#include "reference/spec/layouts.hpp"

namespace mx::emulate {

// Blocks lie along the last dimension (axis row), along the last but one (axis col), or over both
// (axis tile), and never across two slices; or one block is the tensor. With axis row, and where
// the block is the tensor, all dimensions but the last count as rows of one slice; otherwise the
// last two make a slice.
struct BlockLayout {
    std::int64_t slices = 1;
    std::int64_t rows = 0;  // of a slice
    std::int64_t columns = 0;
    std::int64_t block_rows = 0;  // the grid of scales of a slice
    std::int64_t block_columns = 0;
    std::vector<std::int64_t> shape;        // of the tensor
    std::vector<std::int64_t> scale_shape;  // of all scales, one after the other

    bool is_empty() const { return slices == 0 || rows == 0 || columns == 0; }
    std::int64_t elements() const { return is_empty() ? 0 : slices * rows * columns; }
    // An empty tensor that is one block has a scale all the same.
    std::int64_t blocks() const { return slices * block_rows * block_columns; }
};

struct BlockShape {
    BlockAxis axis = BlockAxis::row;  // row, col, tile or tensor
    std::int64_t block = 0;           // 0 of axis tensor
};

// 1 for no lengths.
std::int64_t product(std::span<const std::int64_t> lengths);

// As error: a tensor without the dimensions that blocks would lie along.
Expected<BlockLayout> layout_of(std::span<const std::int64_t> shape, const BlockShape& blocks);

}  // namespace mx::emulate
