// The steps of spec/gemm_epilogue.hpp on exact values, each rounded as it says.
#pragma once

#include "reference/exact/decode.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx::exact {

// The code of the output. NaN is positive with all bits set; bfloat16, binary16 and binary32
// overflow to Inf.
Code finish(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
            const Value& accumulator);

}  // namespace mx::exact
