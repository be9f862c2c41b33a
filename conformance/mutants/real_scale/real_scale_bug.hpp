// The planted bugs of blocks whose scale has a mantissa, and which of them is switched on. Used by
// the sources here alone.
#pragma once

namespace mx::mutants::real_scale {

enum class Bug {
#define MX_REAL_SCALE_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/real_scale/real_scale_mutants.def"
#undef MX_REAL_SCALE_MUTANT
};

// As mutants/bug.hpp has it.
[[gnu::visibility("hidden")]] inline Bug planted = Bug::none;

inline bool has(Bug bug) {
    return bug == planted;
}

}  // namespace mx::mutants::real_scale
