// The right bits of a call, written into its outputs. The arithmetic is that of reference/fast and
// reference/gemm; the walk over blocks and strides is this folder's own, so that a harness which
// asks the library as a device has its own walk checked as well.
#pragma once

#include <string_view>

#include "conformance/data/inputs.hpp"
#include "conformance/library/oracle_call.hpp"

namespace mx::library {

// Of a call whose buffers are there.
void answer(const OracleCall& call);

// A tensor as the harness has it: dense, row by row.
CodeTensor dense_copy(const kit::Strided& tensor, std::string_view type);

}  // namespace mx::library
