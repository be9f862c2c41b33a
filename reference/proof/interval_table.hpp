// The right code of every input of a conversion as constant runs over the input codes, and a
// device's stored output compared with them at the speed of memory. The runs come from the exact
// oracle by bisection; the output is read once and nothing is converted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/exact/preimage.hpp"
#include "reference/spec/element_format.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::proof {

struct TableOf {
    Quantizer rules;  // of elements: rounding, overflow, subnormals, NaN, sign of zero
    ElementFormat input;
    ElementFormat format;  // of at most 8 bits: one byte a code
    RandomBits random = {};
};

// In order and without gaps, over all codes of the input.
std::vector<exact::Run> interval_table(const TableOf& conversion);

// Output codes, right-aligned in their bytes, of the inputs `first`, `first` + 1, ...
struct StoredCodes {
    std::uint64_t first = 0;
    std::span<const std::uint8_t> codes;
};

// How many codes differ from the table. All inputs must be in the table.
std::uint64_t count_differences(std::span<const exact::Run> table, const StoredCodes& stored);

}  // namespace mx::proof
