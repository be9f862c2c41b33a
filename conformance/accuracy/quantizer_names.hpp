// A quantizer by the names of its format and dialect. Used by the commands that take such names.
#pragma once

#include <string>
#include <vector>

#include "conformance/accuracy/block_codes.hpp"
#include "reference/base/status.hpp"

namespace mx::accuracy {

struct QuantizerNames {
    std::string format;
    std::string dialect;
};
// As error: names that no table has or that do not go together, and rows that do not read f32 or
// take their scale from earlier tensors.
Expected<Quantization> quantizer_of(const QuantizerNames& names);

// Where none is named: of ocp and nv those that quantize the format, and of a format that neither
// does its usual one.
std::vector<std::string> usual_dialects(const std::string& format);

}  // namespace mx::accuracy
