// The scale of a D that becomes NVFP4: as cuBLAS advises, so that the largest results come near
// the largest that its blocks hold. One that is drawn would leave most scales of blocks at 0 or at
// their largest, where sources say nothing and so nothing is judged. Used by gemm_inputs.
#pragma once

#include <vector>

#include "conformance/data/gemm_tensors.hpp"
#include "conformance/data/inputs.hpp"

namespace mx {

// `inputs` are those of `tensors` before that scale.
Code fitting_scale_out(const GemmProblem& gemm, const std::vector<GemmTensor>& tensors,
                       const std::vector<CodeTensor>& inputs);

}  // namespace mx
