// Quantizing whole blocks that lie one after another in memory: the fast path of the device.
// Used by quantize.cpp. Knows no strides and no tails.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

struct RowRun {
    ValueType value_type;
    ElementType element_type;
    ScaleRule rule;
    const std::uint8_t* values;
    std::uint8_t* codes;
    std::uint8_t* scales;
    std::size_t blocks;
    Stores stores;  // streaming only if the codes are aligned to 64 bytes
};

// Returns how many of the blocks, from the first, it has done: all, or none on a machine without
// vectors.
std::size_t quantize_row_run(const RowRun& run);

}  // namespace mx::cpu
