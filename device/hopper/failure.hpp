// Calls of CUDA that fail, as the exceptions of device/cublaslt.
#pragma once

#include "device/cublaslt/failure.hpp"

namespace mx::hopper {

using cublaslt::check;

}  // namespace mx::hopper
