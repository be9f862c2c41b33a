// The planted bugs of a GPU. One is switched on by the job that a kernel gets (gpu_request.hpp).
// Used by the sources here alone.
#pragma once

namespace mx::mutants::gpu {

enum class Bug {
#define MX_GPU_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/gpu/gpu_mutants.def"
#undef MX_GPU_MUTANT
};

}  // namespace mx::mutants::gpu
