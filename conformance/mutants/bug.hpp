// Which bug this shared library is built with: the build names it in MX_MUTANT_NAME. Used by the
// mutants' sources alone. Chosen at compile time, so no shipped binary has a switch for a bug.
#pragma once

#ifndef MX_MUTANT_NAME
#define MX_MUTANT_NAME none
#endif

namespace mx::mutants {

enum class Bug {
#define MX_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/mutants.def"
#undef MX_MUTANT
};

constexpr bool has(Bug bug) { return bug == Bug::MX_MUTANT_NAME; }

}  // namespace mx::mutants
