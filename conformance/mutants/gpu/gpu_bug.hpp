// Which bug this shared library is built with: the build names it in MX_GPU_MUTANT_NAME. Used by
// the CUDA sources here alone. Chosen at compile time: no shipped binary has a switch for a bug.
#pragma once

#ifndef MX_GPU_MUTANT_NAME
#define MX_GPU_MUTANT_NAME none
#endif
#define MX_GPU_MUTANT_TEXT_OF(name) #name
#define MX_GPU_MUTANT_FILE_OF(name) "gpu_" MX_GPU_MUTANT_TEXT_OF(name)

namespace mx::mutants::gpu {

enum class Bug {
#define MX_GPU_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/gpu/gpu_mutants.def"
#undef MX_GPU_MUTANT
};

// A variable: code of the GPU may not call a function of the host.
template <Bug bug>
inline constexpr bool has = bug == Bug::MX_GPU_MUTANT_NAME;

inline constexpr const char* file_name = MX_GPU_MUTANT_FILE_OF(MX_GPU_MUTANT_NAME);

}  // namespace mx::mutants::gpu
