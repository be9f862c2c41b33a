// The right answer to a problem, from the fast oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/data/inputs.hpp"

namespace mx {

// In the order the device gives them: codes (or values, or scale bytes); for quantize also scales;
// of axis both, these of each side.
std::vector<CodeTensor> expect(const Problem& p, const std::vector<CodeTensor>& inputs);

// The values as they are quantized: after the rotation of a dialect that has one, in groups of 16
// along the axis. `rotated` holds them then; else they are the values themselves, which may fill
// half of the memory.
const CodeTensor& transformed(const Problem& p, const CodeTensor& values, CodeTensor& rotated);

// The tensor's amax that quantize finds in its values, as the code of a binary32 number. Only of a
// dialect that has a number for the whole tensor, along one axis.
std::uint32_t derived_amax(const Problem& p, const CodeTensor& values);

}  // namespace mx
