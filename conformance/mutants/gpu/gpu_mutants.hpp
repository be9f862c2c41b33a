// The table of the planted bugs of a GPU, for the self-test, also where none of them can be built.
// Knows names and sentences only, nothing of how a bug is planted.
#pragma once

#include <array>

#include "conformance/mutants/mutants.hpp"

namespace mx::mutants::gpu {

// gpu_mutants.so:bug=<name> is the device of each.
inline constexpr std::array table{
#define MX_GPU_MUTANT(name, description, shows_on) Mutant{#name, description, shows_on},
#include "conformance/mutants/gpu/gpu_mutants.def"
#undef MX_GPU_MUTANT
};

}  // namespace mx::mutants::gpu
