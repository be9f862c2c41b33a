// The planted bugs of a GEMM, and which of them is switched on. Used by the sources here alone.
#pragma once

namespace mx::mutants::gemm {

enum class Bug {
#define MX_GEMM_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/gemm/gemm_mutants.def"
#undef MX_GEMM_MUTANT
};

// As mutants/bug.hpp has it.
[[gnu::visibility("hidden")]] inline Bug planted = Bug::none;

inline bool has(Bug bug) {
    return bug == planted;
}

}  // namespace mx::mutants::gemm
