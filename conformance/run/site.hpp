// Everything around one difference: its block, its lane, and the exact values there. What
// classification, confirmation and the printed witness look at.
#pragma once

#include <cstdint>

#include "conformance/run/difference.hpp"
#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"

namespace mx {

struct Site {
    std::int64_t block = 0;
    int lane = 0;
    bool is_scale = false;    // the difference is in a scale
    Code input;               // of the lane; of the amax lane when the difference is a scale
    std::vector<Code> lanes;  // all inputs of the block (quantize only)
    fast::Unpacked amax;      // as the dialect sees it (quantize only)
    RandomBits random;        // that decide the rounding of the lane (convert only)
    Code expected_scale, actual_scale;  // quantize, dequantize
    bool has_scale = false;
};
Site site_of(const Evidence& evidence, const Difference& difference);

// Formats of the codes in inputs[0] and in the output that differs.
const ElementFormat& input_format(const Case& c);
const ElementFormat& output_format(const Case& c, std::size_t output);

// The block's amax, or the value that encode_scale or a cast takes, from the exact oracle.
exact::Value exact_amax(const Case& c, const Site& site);

// The value that is rounded to the output's code: the input, scaled where there is a scale; for a
// scale the argument of its rule.
exact::Value exact_argument(const Case& c, const Site& site, const Difference& difference);

// What the exact oracle says the code must be.
Code exact_answer(const Case& c, const Site& site, const Difference& difference);

// The first decision that the dialect's source leaves open and that this difference hangs on; "" if
// the expected bits are binding.
std::string open_decision(const Case& c, const Site& site, const Difference& difference);

}  // namespace mx
