// What is explained: one block of codes and the case it belongs to. Made from a case or from values
// that a user typed; nothing here computes an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "reference/spec/element_format.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::emulate {

struct ExplainTarget {
    Case c;                   // the names of its tables count; its data is in `lanes`
    std::string title;        // "quantize format=... , block 3 of 4"
    std::vector<Code> lanes;  // inputs; element codes for dequantize; amax values for encode_scale
    Code scale;               // dequantize only
    std::vector<RandomBits> random;        // of each lane; empty where the rounding takes none
    std::vector<std::string> input_notes;  // what became of typed values that the type lacks
};

// `axis` says which blocks of a case of axis both, "row" or "col"; "" is those along rows. Any
// other case has blocks of its own axis alone.
Expected<ExplainTarget> target_of_case(const Case& c, std::uint64_t block, Sources& sources,
                                       const std::string& axis = "");

// Values to quantize, as explain --values gets them.
struct TypedValues {
    std::string values;
    std::string format;
    std::string dialect;
    std::string input;
};
Expected<ExplainTarget> target_of_values(const TypedValues& typed);

}  // namespace mx::emulate
