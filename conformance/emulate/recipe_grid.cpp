// See recipe_grid.hpp.
#include "conformance/emulate/recipe_grid.hpp"

#include <algorithm>

#include "conformance/emulate/block_layout.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// Blocks of one row, or the whole tensor, run over slices as if they were further rows.
RecipeGrid rows_as_one(std::span<const std::int64_t> shape) {
    RecipeGrid grid;
    grid.columns = shape.back();
    grid.rows = product(shape.first(shape.size() - 1));
    return grid;
}

RecipeGrid in_slices(std::span<const std::int64_t> shape) {
    RecipeGrid grid;
    grid.columns = shape.back();
    grid.rows = shape[shape.size() - 2];
    grid.slices = product(shape.first(shape.size() - 2));
    return grid;
}

}  // namespace

std::vector<std::size_t> RecipeGrid::lanes(std::int64_t block) const {
    const std::int64_t column = block % blocks_across() * block_columns;
    const std::int64_t row = block / blocks_across() % blocks_down() * block_rows;
    const std::int64_t slice = block / blocks_across() / blocks_down();
    std::vector<std::size_t> places;
    for (std::int64_t r = row; r < std::min(row + block_rows, rows); ++r)
        for (std::int64_t c = column; c < std::min(column + block_columns, columns); ++c)
            places.push_back(static_cast<std::size_t>((slice * rows + r) * columns + c));
    return places;
}

Expected<RecipeGrid> recipe_grid(const BlockFormat& format, const std::string& axis,
                                 std::span<const std::int64_t> shape) {
    const std::string name(format.name);
    const std::string of_shape = "a tensor of shape " + data::shape_text(shape);
    const bool is_square = format.block_rows > 1;
    if (axis != "row" && axis != "col")
        return bad("blocks of " + name + " lie along axis row or col, not " +
                   data::in_quotes(axis));
    if (axis == "col" && (is_square || format.is_whole_tensor()))
        return bad("the blocks of " + name + " are the same along both axes; leave out --axis col");
    if (shape.empty()) return bad(of_shape + " has no dimension for blocks to lie along");
    if ((is_square || axis == "col") && shape.size() == 1)
        return bad(of_shape + " has one dimension, but blocks of " + name + " along axis " + axis +
                   " need two");
    const bool has_slices = is_square || axis == "col";
    RecipeGrid grid = has_slices ? in_slices(shape) : rows_as_one(shape);
    if (format.is_whole_tensor()) {
        grid.block_rows = std::max<std::int64_t>(grid.rows, 1);
        grid.block_columns = std::max<std::int64_t>(grid.columns, 1);
        grid.scale_shape = {1, 1};
        return grid;
    }
    grid.block_rows = axis == "col" ? format.block_columns : format.block_rows;
    grid.block_columns = axis == "col" ? format.block_rows : format.block_columns;
    grid.scale_shape.assign(shape.begin(), shape.end());
    grid.scale_shape.back() = grid.blocks_across();
    if (has_slices) grid.scale_shape[shape.size() - 2] = grid.blocks_down();
    return grid;
}

}  // namespace mx::emulate
