// The words of a GEMM, and whether its fields go together. Knows names and shapes, no bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

// A factor's word, or nothing where no factor is called so.
std::optional<FactorType> parse_gemm_factor(std::string_view word);

// The words for those that the grammar knows.
std::vector<std::string> gemm_factor_names();
std::vector<std::string> gemm_output_names();
// Who makes D's blocks: dialects, and recipes of NVFP4.
std::vector<std::string> gemm_dialect_names();
std::vector<std::string> gemm_addend_names();
std::vector<std::string> gemm_epilogue_names();
std::vector<std::string> gemm_accumulation_names();
std::vector<std::string> gemm_model_names();

// Whether the fields go together.
Status check_gemm(const Problem& p);

}  // namespace mx
