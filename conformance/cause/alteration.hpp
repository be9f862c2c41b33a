// One thing gone wrong on purpose, and the answer of a device that does it: a decision of the
// quantizer taken otherwise, or data transformed on their way. Two of them go together. Used by the
// hypotheses; compares nothing, and knows no device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "reference/fast/quantize.hpp"

namespace mx::cause {

using Tensors = std::vector<CodeTensor>;

// A block whose amax is looked for.
struct BlockSeen {
    const Problem& p;
    const CodeTensor& input;  // as it is quantized
    std::int64_t block = 0;
    BlockPlace place;
};

// An element whose random bits are looked for.
struct RandomSeen {
    const Problem& p;
    const StochasticForm& form;
    const CodeTensor& values;  // as they are quantized
    const CodeTensor& words;
    std::size_t element = 0;
};

// How the errors of two candidates for a scale are compared, where an entry has two.
enum class Comparison {
    as_asked,
    ties_to_expanded,  // of equal errors the scale for two thirds of the largest element wins
    signed_errors,     // summed with their signs
    unrounded_scales,  // of the scales before they are rounded to their format
};

// Each step that is set takes the place of the right one, or is taken after it.
struct Alteration {
    std::string kind;  // "element_rounding:nearest_even->nearest_away", one word for readers of it
    std::string text;  // "ties are rounded away from zero", as it stands in a sentence

    // The table entry, and the rules of a convert.
    std::function<void(Problem& p, Quantizer& rules)> rules = {};
    // What the device reads.
    std::function<void(const Problem& p, Tensors& inputs)> inputs = {};
    // The values among which the amax of the whole tensor is looked for; rotated ones, where the
    // entry rotates.
    std::function<void(const Problem& p, CodeTensor& values)> tensor_values = {};
    bool amax_before_rotation = false;
    // The elements among which the amax is looked for.
    std::function<void(const BlockSeen& seen, std::vector<std::uint32_t>& lanes)> amax_lanes = {};
    std::function<fast::Unpacked(const Problem& p, const fast::Unpacked& amax)> amax = {};
    // The byte of an amax. Under E8M0 scales alone.
    std::function<Code(const Quantizer& rules, const BlockFormat& format,
                       const fast::Unpacked& amax)>
        scale_byte = {};
    // The block scales of a tensor, before a value is divided by one.
    std::function<void(const Problem& p, std::vector<fast::BlockScale>& scales)> scales = {};
    // The format whose scale is made, and that whose elements are; nullptr: the one asked for.
    const BlockFormat* scale_format = nullptr;
    const BlockFormat* element_format = nullptr;
    // How such a value becomes an element of that format.
    std::function<void(Quantizer& rules, const ElementFormat& format, const fast::Unpacked& value)>
        element_rules = {};
    // The value that is rounded to an element of that format.
    std::function<fast::Unpacked(const ElementFormat& format, const fast::Unpacked& value)> value =
        {};
    std::function<RandomBits(const RandomSeen& seen)> random = {};

    // These are steps under scales with a mantissa alone.
    std::function<void(const fast::Unpacked& amax, Quantizer& rules)> rules_of_block = {};
    std::function<void(const Problem& p, fast::TensorNumbers& numbers)> numbers = {};
    // The number of the tensor that ratios are made with; elements see the right one.
    std::function<fast::Unpacked(const fast::Unpacked& number)> number_in_ratios = {};
    // The scale next to a ratio, where it is the ratio rounded to its format.
    std::function<Code(const fast::Unpacked& ratio)> rounded_scale = {};
    std::function<void(const fast::BlockQuestion& question, fast::BlockScale& scale)> made_scale =
        {};
    Comparison comparison = Comparison::as_asked;
    // The value that is rounded to an element.
    std::function<fast::Unpacked(const fast::BlockQuestion& question, const fast::BlockScale& scale,
                                 const fast::Unpacked& value)>
        scaled_value = {};

    // What is written.
    std::function<void(const Problem& p, const Tensors& inputs, Tensors& outputs)> outputs = {};
};

// In the order of expect().
Tensors answer_with(std::span<const Alteration* const> alterations, const Problem& p,
                    const Tensors& inputs);

}  // namespace mx::cause
