// One fault that nobody wrote: a decision of an entry of the quantizer table taken otherwise, or
// data changed on their way, everywhere or in one place, as a number draws it. Shares no line with
// conformance/cause, whose words alone it declares itself in. Knows no device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"

namespace mx::selftest {

// Where in a tensor a fault shows; elsewhere the answer is right.
struct FaultPlace {
    std::string kind;  // "element_7"; "": everywhere
    std::string text;
    std::function<bool(const Problem& p, std::size_t element)> has_element = {};
    std::function<bool(const Problem& p, std::int64_t block)> has_scale = {};
};

struct GeneratedFault {
    std::string does;  // in the words of conformance/cause, "A | B"; "": it has none for it
    std::string text;
    FaultPlace place;
    // Each is one thing that goes wrong; the others are not set.
    std::function<void(Quantizer& rules)> rules = {};
    std::function<void(const Problem& p, CodeTensor& values)> input = {};
    std::function<bool(const Problem& p, const CodeTensor& values, std::size_t element, int lane)>
        is_unseen = {};  // by the amax
    std::function<std::int64_t(const Problem& p, std::int64_t block)> scale_of = {};
    std::function<void(const Problem& p, std::vector<CodeTensor>& outputs)> output = {};
};

// The entry that the bug of that number is of, and its one or two faults.
struct GeneratedBug {
    const Quantizer* entry = nullptr;
    std::vector<GeneratedFault> faults;
};
GeneratedBug draw_bug(std::uint64_t number);

// What a device with these faults makes of a quantization along one axis.
std::vector<CodeTensor> faulty_answer(std::span<const GeneratedFault> faults, const Problem& p,
                                      const std::vector<CodeTensor>& inputs);

}  // namespace mx::selftest
