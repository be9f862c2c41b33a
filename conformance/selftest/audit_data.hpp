// The data on which rules of acceptance are tried: what other projects feed a quantizer, and our
// edge blocks; and quantized tensors as the numbers that those rules look at. Used by the audit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "device/host/operation.hpp"
#include "reference/spec/element_format.hpp"

namespace mx::selftest {

// A tensor to quantize, the right answer, and both as numbers.
struct Numbers {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;
    std::vector<double> elements;  // decoded codes
    std::vector<double> values;    // element * scale
};
struct Sample {
    Case c;
    std::vector<CodeTensor> inputs;
    std::vector<float> floats;  // the inputs
    Numbers expected;
};

// What other projects draw their inputs from.
enum class Population {
    uniform,  // f32, in [-2, 1)
    normal,   // bf16; a sum of twelve uniform numbers, so that no function of a libm is needed
    ramp,     // f32, one block: 0, 1/4, 2/4, ...
};

// The block format, dialect and axis of a sample.
struct Setting {
    const BlockFormat* format;
    const Quantizer* dialect;
    BlockAxis axis;
};

// One number of a population, always the same; and numbers as codes and back, of any format.
double drawn(Population population, std::size_t number);
std::uint32_t code_of(const ElementFormat& format, double value);
double value_of(const ElementFormat& format, std::uint32_t code);

Sample draw(Population population, const Setting& setting, Shape shape);

// All blocks of one of our edge families, in rows of one block each. f32.
Expected<Sample> edge_blocks(std::string_view family, const Setting& setting, Sources& sources);

// outputs[0] element codes, outputs[1] scales, as quantize gives them.
Numbers numbers_of(const Case& c, const std::vector<CodeTensor>& outputs);

}  // namespace mx::selftest
