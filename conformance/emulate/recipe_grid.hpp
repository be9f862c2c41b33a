// Where the blocks of a recipe lie in a tensor of any rank: one row of slices, each cut into blocks
// of the format's shape. Used by recipe_tensor.cpp; knows no bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::emulate {

struct RecipeGrid {
    std::int64_t slices = 1;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t block_rows = 1;  // of one block
    std::int64_t block_columns = 1;
    std::vector<std::int64_t> scale_shape;

    std::int64_t blocks_down() const { return (rows + block_rows - 1) / block_rows; }
    std::int64_t blocks_across() const { return (columns + block_columns - 1) / block_columns; }
    std::int64_t block_count() const {
        const bool is_empty = slices == 0 || rows == 0 || columns == 0;
        return is_empty ? 0 : slices * blocks_down() * blocks_across();
    }
    // The places of a block's lanes in the tensor, row by row.
    std::vector<std::size_t> lanes(std::int64_t block) const;
};

// As error: a tensor without the dimensions that blocks would lie along, or an axis that the shape
// of the blocks has no use for.
Expected<RecipeGrid> recipe_grid(const BlockFormat& format, const std::string& axis,
                                 std::span<const std::int64_t> shape);

}  // namespace mx::emulate
