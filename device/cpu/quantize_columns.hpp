// Quantizing blocks that run across memory rows, many side by side: what columnwise blocks of a
// row-major tensor are. Used by quantize.cpp.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

// One strip of blocks. Lane i of line j is at element i * lane_stride + j; the scales are
// contiguous.
struct ColumnStrip {
    ValueType value_type;
    ElementType element_type;
    ScaleRule rule;
    ConstPlane values;  // line_stride is 1
    Plane codes;        // line_stride is 1
    std::uint8_t* scales;
    std::size_t lines;
    std::size_t lanes;  // at most block_size
};

// Returns how many lines, from the first, it has done: a multiple of its width, perhaps none.
std::size_t quantize_column_strip(const ColumnStrip& strip);

}  // namespace mx::cpu
