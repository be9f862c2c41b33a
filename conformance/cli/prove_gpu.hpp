// Used by cmd_prove alone.
#pragma once

#include <string>

namespace mx::cli {

struct GpuProofOptions {
    std::string glob;
    std::string digests_out;  // file for the digests of what the GPU answered; "" for none
};

// Runs the maps of that name on the first GPU and prints a row of each. Returns the exit code.
int prove_on_gpu(const GpuProofOptions& options);

}  // namespace mx::cli
