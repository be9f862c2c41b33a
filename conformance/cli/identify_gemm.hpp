// mxcheck identify --op gemm: how a device sums, or which of its algorithms sum alike.
// Used by cmd_identify.cpp.
#pragma once

#include <string>
#include <vector>

#include "conformance/cli/session.hpp"

namespace mx::cli {

struct IdentifyGemmOptions {
    std::vector<std::string> types{"e4m3"};  // of A and B; one for both
    std::vector<std::string> scaling;        // likewise; none: what the device takes
    std::vector<std::string> formats;        // MX formats instead of types and scaling
    std::string accumulation;
    std::string algorithm;
    std::string shape = "256x256x1024";  // of the census
    bool census = false;
    bool json = false;
};

// The options of the command line that fill them; they must outlive the options.
std::vector<Option> options_of(IdentifyGemmOptions& options);

// Returns the exit code.
int identify_gemm_device(const IdentifyGemmOptions& options, const DeviceChoice& choice,
                         IsolatedDevice& device);

}  // namespace mx::cli
