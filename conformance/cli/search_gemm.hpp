// mxcheck identify --op gemm --search: a device without a row. Used by identify_gemm.cpp.
#pragma once

#include "conformance/cli/identify_gemm.hpp"

namespace mx::cli {

// Prints what was found, as text or JSON, and writes the model file if one is asked for. Returns
// the exit code: 0 only where everything that the device answered is explained.
int search_gemm_device(const IdentifyGemmOptions& options, const DeviceChoice& choice,
                       const Client& device, const GemmProblem& setting);

}  // namespace mx::cli
