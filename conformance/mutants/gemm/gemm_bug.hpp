// Which bug this shared library is built with: the build names it in MX_GEMM_MUTANT_NAME. Used by
// the sources here alone. Chosen at compile time: no shipped binary has a switch for a bug.
#pragma once

#ifndef MX_GEMM_MUTANT_NAME
#define MX_GEMM_MUTANT_NAME none
#endif
#define MX_GEMM_MUTANT_TEXT_OF(name) #name
#define MX_GEMM_MUTANT_FILE_OF(name) "gemm_" MX_GEMM_MUTANT_TEXT_OF(name)

namespace mx::mutants::gemm {

enum class Bug {
#define MX_GEMM_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/gemm/gemm_mutants.def"
#undef MX_GEMM_MUTANT
};

constexpr bool has(Bug bug) {
    return bug == Bug::MX_GEMM_MUTANT_NAME;
}

inline constexpr const char* file_name = MX_GEMM_MUTANT_FILE_OF(MX_GEMM_MUTANT_NAME);

}  // namespace mx::mutants::gemm
