// Everything around one difference: its block, its lane, and the exact values there. What
// classification, confirmation and the printed witness look at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "conformance/run/difference.hpp"
#include "reference/exact/rotated_range.hpp"
#include "reference/fast/block.hpp"

namespace mx {

// What the device took the whole tensor to have, where that hangs on the order of rotated sums.
struct DeviceTensor {
    exact::TensorNumbers numbers;
    std::uint32_t decisions = 0;  // by which its number is another than ours; 0 if it is ours
};

struct Site {
    std::int64_t block = 0;
    int lane = 0;
    bool is_scale = false;          // the difference is in a scale
    bool is_tensor_number = false;  // ... or in the number of the whole tensor
    Code input;                     // of the lane; of the amax lane when the difference is a scale
    std::vector<Code> lanes;        // all inputs of the block (quantize only)
    std::vector<exact::LaneRange> rotated;  // those of a dialect that rotates them
    fast::Unpacked amax;                    // as the dialect sees it (quantize only)
    RandomBits random;                      // that decide the rounding of the lane, where some do
    std::uint32_t random_word = 0;          // that holds those bits
    Code expected_scale, actual_scale;      // quantize, dequantize
    bool has_scale = false;
    exact::TensorNumbers tensor;                // quantize: what the whole tensor has
    std::optional<DeviceTensor> device_tensor;  // of a dialect that rotates, with a derived number
    // Of a block whose scale has a mantissa, worked out where it is first asked for: the sites of a
    // block share it.
    std::shared_ptr<std::optional<exact::BlockScale>> exact_scale;
};
// `tensor` is that of the evidence, from exact_tensor_numbers; `before` any site of the same
// evidence or nullptr, and spares time where it is of the same block.
Site site_of(const Evidence& evidence, const Difference& difference,
             const exact::TensorNumbers& tensor, const Site* before);

// The numbers of the whole tensor, given or derived, from the exact oracle. Nothing where the
// dialect has none, and of a problem that does not quantize.
exact::TensorNumbers exact_tensor_numbers(const Evidence& evidence);

// Does the output hold scales, or the number of a tensor?
bool holds_scales(const Case& c, std::size_t output);

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
