// The vector kernels of dequantize: whole blocks one after another, and blocks across memory rows.
// Used by dequantize.cpp.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

// Blocks whose codes, scales and values are all contiguous.
struct DequantizeRun {
    ElementType element_type;
    ValueType value_type;
    const std::uint8_t* codes;
    const std::uint8_t* scales;
    std::uint8_t* values;
    std::size_t blocks;
    Stores stores;  // any alignment
};

// Lane i of line j is at element i * lane_stride + j; the scales are contiguous.
struct DequantizeStrip {
    ElementType element_type;
    ValueType value_type;
    ConstPlane codes;  // line_stride is 1
    const std::uint8_t* scales;
    Plane values;  // line_stride is 1
    std::size_t lines;
    std::size_t lanes;
};

// Both return how many blocks, or lines, from the first, they have done.
std::size_t dequantize_row_run(const DequantizeRun& run);
std::size_t dequantize_column_strip(const DequantizeStrip& strip);

}  // namespace mx::cpu
