// The right answer to a problem, from the fast oracle.
#pragma once

#include <vector>

#include "conformance/data/inputs.hpp"

namespace mx {

// In the order the device gives them: codes (or values, or scale bytes); for quantize also scales;
// of axis both, these of each side.
std::vector<CodeTensor> expect(const Problem& p, const std::vector<CodeTensor>& inputs);

}  // namespace mx
