// One output of a GEMM with every step to it: what each block sums to, its scales, the exact total,
// what it is rounded to, and where the accumulator of a machine goes. Used by mxcheck gemm.
#pragma once

#include <cstdint>

#include "conformance/emulate/gemm_tensor.hpp"

namespace mx::emulate {

// Text of some lines, from the exact oracle. Output `index` counts along the rows of D. With a
// model in the rules its accumulator is shown beside the exact sum, step by step; without one, what
// every model that takes both factors ends with.
std::string explain_output(const TensorGemm& problem, std::int64_t index);

}  // namespace mx::emulate
