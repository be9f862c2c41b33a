// An accumulation model as text, for mxcheck list and gemm. Knows no arithmetic.
#pragma once

#include <string>

#include "reference/spec/gemm_model.hpp"

namespace mx::emulate {

// No sum says what GELU gives.
inline constexpr const char* gelu_text = "judged under a model only";

// "32 products a step, 13 fraction bits kept; e8m13 accumulator, rounded toward_zero; ..."
std::string gemm_model_text(const GemmModel& model);

// "predicted, nothing of it has run here"
std::string_view standing_text(Standing standing);

}  // namespace mx::emulate
