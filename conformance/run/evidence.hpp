// What has been gathered about one case on its way along the line: inputs, expected bits, the
// device's answer. Each stage reads it; none goes back.
#pragma once

#include <vector>

#include "conformance/data/inputs.hpp"
#include "device/host/question.hpp"

namespace mx {

struct Evidence {
    Case c;
    std::vector<CodeTensor> inputs;
    std::vector<CodeTensor> expected;
    std::vector<CodeTensor> actual;  // of the device's first run; empty if it gave no answer
    std::vector<std::vector<std::uint8_t>> flags;  // per output and element, see question.hpp
    DeviceAnswer answer;                           // its outputs have moved to `actual` and `flags`
};

// What the case asks, with the input bytes laid out as it says. `storage` owns padded inputs and
// must outlive the question.
Question make_question(const Case& c, const std::vector<CodeTensor>& inputs,
                       std::vector<std::vector<std::byte>>& storage);

}  // namespace mx
