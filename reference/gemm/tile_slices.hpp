// What the loops over slices work on. Plain data alone, for these loops are compiled for one
// processor and must share no code with the rest of the program.
//
// All scales of a row along K become part of its numbers: a row is integers of one quantum, and an
// integer is cut into slices of 7 bits, each with its sign. A slice is a factor of 8 bits, and
// products of slices that have one place, the sum of theirs, are summed over K in 32 bits:
//
//   row, k = 0    00000|00xxxx0|0000000|0000000    scale 2^7 of a block
//   row, k = 32   00000|0000000|00000xx|xx00000    scale 2^0
//   slices          3      2       1       0
//
// There are few slices where the scales of each row are near each other. tile_kernel.hpp has the
// way for those that are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::gemm {

inline constexpr int slice_bits = 7;
inline constexpr int slices_max = 8;
inline constexpr int slice_rows = 32;  // of a panel: two tiles one upon the other
inline constexpr int slice_step = 64;  // of k, that a tile holds
inline constexpr int slice_steps_max = 32;
inline constexpr int slice_depth_max = slice_step * slice_steps_max;  // that is summed in 32 bits
inline constexpr int slice_tile_bytes = 16 * 64;
inline constexpr int slice_step_bytes = 2 * slice_tile_bytes;
inline constexpr int slice_outputs = slice_rows * slice_rows;

// Every product of one place, of the largest slices.
static_assert(std::int64_t{slices_max} * slice_depth_max * 127 * 127 < std::int64_t{1} << 31);

// Two panels. Slice by slice, within each step by step, they hold two tiles: of `a` the rows of a
// tile lie one below the other, of `b` four neighbours along k of every row do.
struct SliceRun {
    const std::int8_t* a;
    const std::int8_t* b;
    int slices_a;
    int slices_b;
    int steps;
    // Digits of sums as window_sum.hpp has them, level by level; within each, where slice_output
    // says. After a run all but the highest lie between 0 and 2^level_bits.
    std::int64_t* digits;
    int levels;
};

struct SliceOutput {
    int row;
    int column;
};

constexpr int slice_output(const SliceOutput& output) {
    return (output.row / 16 * 2 + output.column / 16) * 256 + output.row % 16 * 16 +
           output.column % 16;
}

// What is left of a row that is cut, step by step.
struct SliceRow {
    const std::uint8_t* codes;
    int count;                   // of k
    const std::uint8_t* shifts;  // of each block, by which its numbers are moved up
    int block;
    int block_left;   // of the first block
    std::int8_t* to;  // its row of the next tile
};

struct SliceCut {
    SliceRow* rows;
    int count;
    int steps;
    // The slice that begins at bit `b` of every code's number stands at tables + 256 * b. Below 0
    // the number is moved up.
    const std::int8_t* tables;
    int slices;
    std::ptrdiff_t stride;  // from slice to slice
};

// The loops of one processor.
struct SliceLoops {
    void (*run)(const SliceRun& run);
    void (*cut_rows)(const SliceCut& cut);                   // the last step is filled with zeros
    void (*transpose_tiles)(std::int8_t* tiles, int count);  // from the order of `a` to that of `b`
};

extern const SliceLoops amx_slices;

}  // namespace mx::gemm
