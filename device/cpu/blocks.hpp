// Tensors in blocks, and the one way in which quantize and dequantize walk over them. Used by the
// ABI glue, quantize.cpp and dequantize.cpp. Must not know which way the bytes flow.
#pragma once

#include <cstdint>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// What a block is made of and by which rule; dequantize reads the two types alone.
struct Recipe {
    ValueType value_type;
    ElementType element_type;
    ScaleRule scale;
    std::uint8_t nan_code;
};

// Blocks of `block` lines and lanes; the last ones may be cut off. Scale (line, lane) belongs to
// the block in that place of the grid of blocks.
struct BlockJob {
    Recipe recipe;
    Extent extent;
    Extent block;
    Plane values;
    Plane codes;
    Plane scales;
};

// One block: its place in the grid, and the lines and lanes that it has.
struct BlockPlace {
    std::ptrdiff_t line;
    std::ptrdiff_t lane;
    std::ptrdiff_t first_line, end_line;
    std::ptrdiff_t first_lane, end_lane;
};

struct Cell {
    std::ptrdiff_t line;
    std::ptrdiff_t lane;
};

template <typename Action>
void for_each_cell(const BlockPlace& place, Action action) {
    for (std::ptrdiff_t line = place.first_line; line < place.end_line; ++line)
        for (std::ptrdiff_t lane = place.first_lane; lane < place.end_lane; ++lane)
            action(Cell{line, lane});
}

inline std::uint8_t* value_at(const BlockJob& job, Cell cell) {
    return job.values.data +
           (cell.line * job.values.line_stride + cell.lane * job.values.lane_stride) *
               width_of(job.recipe.value_type);
}
inline std::uint8_t* code_at(const BlockJob& job, Cell cell) {
    return job.codes.data + cell.line * job.codes.line_stride + cell.lane * job.codes.lane_stride;
}
inline std::uint8_t* scale_at(const BlockJob& job, Cell block) {
    return job.scales.data + block.line * job.scales.line_stride +
           block.lane * job.scales.lane_stride;
}

// The blocks that row kernels take: one line of this many lanes.
inline constexpr int row_block = 32;

// Blocks of row_block lanes that lie one after another in memory.
struct Run {
    Recipe recipe;
    std::uint8_t* values;
    std::uint8_t* codes;
    std::uint8_t* scales;
    std::size_t blocks;
};

// Blocks of one line each, of any number of lanes, that run across memory rows, side by side: lane
// i of line j is at element i * lane_stride + j. The scales are contiguous.
struct Strip {
    Recipe recipe;
    Plane values;  // line_stride is 1
    Plane codes;   // line_stride is 1
    std::uint8_t* scales;
    std::size_t lines;
    std::size_t lanes;
};

// The work itself. Run and strip kernels return how many blocks or lines, from the first, they have
// done, perhaps none; `block` does one block anywhere.
struct BlockKernels {
    std::size_t (*run)(const Run&);
    std::size_t (*strip)(const Strip&);
    void (*block)(const BlockJob&, const BlockPlace&);
};

// Chooses the kernel by what is contiguous, and leaves the rest to kernels.block.
void for_each_block(const BlockJob& job, const BlockKernels& kernels);

}  // namespace mx::cpu
