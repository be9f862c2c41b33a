// The table of the planted bugs of blocks whose scale has a mantissa, for whoever runs them. Knows
// names and sentences only, nothing of how a bug is planted.
#pragma once

#include <array>

#include "conformance/mutants/mutants.hpp"

namespace mx::mutants::real_scale {

// real_scale_mutants.so:bug=<name> is the device of each.
inline constexpr std::array table{
#define MX_REAL_SCALE_MUTANT(name, description, shows_on) Mutant{#name, description, shows_on},
#include "conformance/mutants/real_scale/real_scale_mutants.def"
#undef MX_REAL_SCALE_MUTANT
};

}  // namespace mx::mutants::real_scale
