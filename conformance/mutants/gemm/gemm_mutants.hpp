// The table of the planted bugs of a GEMM, for whoever runs them. Knows names and sentences only,
// nothing of how a bug is planted.
#pragma once

#include <array>

#include "conformance/mutants/mutants.hpp"

namespace mx::mutants::gemm {

// gemm_mutants.so:bug=<name> is the device of each.
inline constexpr std::array table{
#define MX_GEMM_MUTANT(name, description, shows_on) Mutant{#name, description, shows_on},
#include "conformance/mutants/gemm/gemm_mutants.def"
#undef MX_GEMM_MUTANT
};

}  // namespace mx::mutants::gemm
