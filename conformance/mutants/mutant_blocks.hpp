// How a tensor falls into blocks, and what one block holds while it is quantized. No arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants {

// The grid of blocks, visited line by line: along the rows of the tensor, for axis col down the
// columns.
struct Walk {
    Axis axis;
    std::int64_t rows, columns, size;  // of the tensor; lanes of a side of a block

    std::int64_t height() const { return axis == Axis::row ? 1 : size; }
    std::int64_t width() const { return axis == Axis::column ? 1 : size; }
    std::int64_t grid_rows() const { return (rows + height() - 1) / height(); }
    std::int64_t grid_columns() const { return (columns + width() - 1) / width(); }
    std::int64_t lines() const { return axis == Axis::column ? grid_columns() : grid_rows(); }
    std::int64_t blocks_of_a_line() const {
        return axis == Axis::column ? grid_rows() : grid_columns();
    }

    // Where block `index` of a line has its scale.
    Cell block(std::int64_t line, std::int64_t index) const {
        return axis == Axis::column ? Cell{index, line} : Cell{line, index};
    }
    Cell block_of(Cell cell) const { return {cell.row / height(), cell.column / width()}; }

    // The elements of a block, row by row.
    void list_cells(Cell block, std::vector<Cell>& cells) const {
        const std::int64_t first_row = block.row * height(), first_column = block.column * width();
        cells.clear();
        for (std::int64_t row = first_row; row < std::min(first_row + height(), rows); ++row)
            for (std::int64_t column = first_column;
                 column < std::min(first_column + width(), columns); ++column)
                cells.push_back({row, column});
    }
};

struct Block {
    Cell scale_cell{0, 0};
    std::vector<Cell> cells;
    // One a lane. Places beyond the cells keep what an earlier block left there.
    std::vector<double> values;
    std::vector<std::uint32_t> codes;
};

}  // namespace mx::mutants
