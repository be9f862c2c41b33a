// One call of the device ABI, checked and turned into a problem of cuBLASLt. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute, and calls neither CUDA nor cuBLASLt.
#pragma once

#include "device/cublaslt/call_checks.hpp"
#include "device/cublaslt/problem.hpp"

namespace mx::cublaslt {

// A problem that points to what the tensors point to, wherever that lies. Refuses what cuBLASLt is
// not asked for.
Problem problem_of(const Call& call, Buffers buffers);

}  // namespace mx::cublaslt
