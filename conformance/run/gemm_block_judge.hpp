// The same as gemm_judge.hpp for a D in blocks with scales of their own: elements and scales are
// compared bit for bit. Used by gemm_judge.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/run/gemm_judge.hpp"
#include "reference/gemm/output_blocks.hpp"

namespace mx {

// Elements, then scales.
std::vector<CodeTensor> expect_gemm_blocks(const Problem& p, const gemm::ProblemView& problem);

GemmJudgement judge_gemm_blocks(const Evidence& evidence, std::uint64_t confirmed_max);

}  // namespace mx
