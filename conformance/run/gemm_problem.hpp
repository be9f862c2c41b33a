// A GEMM case as the problem that the oracle of reference/gemm is asked: the one place where the
// typed question becomes its numbers. What is expected of a case and what is judged start here.
#pragma once

#include <vector>

#include "conformance/data/gemm_inputs.hpp"
#include "reference/gemm/problem.hpp"

namespace mx {

// Looks into `inputs`, which are those of the case, in the order of the device ABI; without them
// everything but codes and scales is known.
gemm::ProblemView gemm_problem_of(const Problem& p, const std::vector<CodeTensor>& inputs);

}  // namespace mx
