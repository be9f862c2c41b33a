// What the exact oracle makes of an output of a GEMM, by its own way from the factors to D. Asked
// where a device differs from what reference/gemm expects, before the device is blamed.
#pragma once

#include <vector>

#include "reference/exact/dot.hpp"
#include "reference/gemm/output_blocks.hpp"

namespace mx {

// The result before it is rounded to D's type, and the code that expected_result must give.
exact::Value exact_value(const gemm::ProblemView& problem, const gemm::Output& output);
Code confirmed_result(const gemm::ProblemView& problem, const gemm::Output& output);
// The alpha of a model's epilogue: with the numbers of both tensors, as spec/gemm_output.hpp says.
Code confirmed_alpha(const gemm::Output& output);

gemm::OutputBlock confirmed_block(const gemm::ProblemView& problem,
                                  const gemm::OutputBlockPlace& place);

}  // namespace mx
