// One call of the device ABI, read into the oracle's own types. Used by the oracle device. Knows
// names and shapes; computes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::selftest {

enum class Action { convert, encode_scale, quantize, dequantize };
using kit::Axis;
using kit::Cell;
using View = kit::Strided;

// How the words of a second input decide stochastic roundings; no bits where there are none.
struct RandomWords {
    int bits = 0;
    int values_per_word = 1;
};

struct Request {
    Action action = Action::convert;
    Quantizer rules = e8m0_quantizers[0];  // for convert with the element rules that were asked for
    BlockFormat format = mx_block_formats[0];
    ElementFormat element = format.element();   // e8m0 for a cast to a scale
    ElementFormat values = element_formats[0];  // of the input; of the output for dequantize
    kit::Blocks blocks;
    RandomWords random;
    std::array<View, 2> inputs, outputs;

    bool casts_to_scale() const { return element.name == formats::e8m0.name; }
};

// One request; of axis "both" one for the rows and one for the columns. Refuses what the oracle
// does not know.
std::vector<Request> read_requests(const kit::Arguments& call, kit::Buffers buffers);

}  // namespace mx::selftest
