// What a rotated lane, and the amax of rotated lanes, may be where the quantizer leaves open in
// which order a matrix unit adds the 16 products. Used by conformance/run, which judges by it.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/quantize.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::exact {

// Both ends are bfloat16 values, and equal where the order decides nothing.
struct LaneRange {
    Value low, high;

    bool has_both_signs() const { return low.negative != high.negative; }
    // Sums on the way that are infinite may meet.
    bool may_be_nan() const { return low.is_infinity() && high.is_infinity() && has_both_signs(); }
};

// Output `to` of the rotation of 16 finite lanes: quarters of them, as the matrix has them, added
// in binary32 in whatever order, each sum rounded in whatever direction, and Inf beyond the range.
// A lane is a quarter before it is added: a quarter of the sum of whole lanes is a step of no
// source, and that sum overflows where this one does not. `roundings` is how many of the sums may
// be rounded on the way to an output.
LaneRange rotated_range(std::span<const Value> lanes, int to, int roundings = hadamard_size);

// Whole groups of 16 lanes. Where a lane is not finite every order gives the same.
std::vector<LaneRange> rotated_ranges(const Quantizer& quantizer, std::span<const Value> lanes);

// The amax of a block: an interval, or beside it NaN.
struct AmaxRange {
    Value least, largest;
    bool may_be_nan = false;
};
AmaxRange amax_range(const Quantizer& quantizer, std::span<const LaneRange> ranges);

}  // namespace mx::exact
