// Why cuBLASLt may have said no, beside its status. Used by plugin.cpp for sentences alone: nothing
// here keeps a problem from cuBLASLt. Must not call anything.
#pragma once

#include <string>

#include "device/cublaslt/problem.hpp"

namespace mx::cublaslt {

// "; scaling "1x32" needs compute capability 10.0 or later, and this GPU has 9.0", or "".
std::string explanation(const Problem& problem, int capability);

}  // namespace mx::cublaslt
