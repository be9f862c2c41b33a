// mxcheck identify --op gemm: how a device sums, or which of its algorithms sum alike.
// Used by cmd_identify.cpp.
#pragma once

#include <string>
#include <vector>

#include "conformance/cli/device_choice.hpp"
#include "conformance/identify/gemm_setting.hpp"

namespace mx::cli {

struct IdentifyGemmOptions {
    identify::GemmWords words;
    std::string shape = "256x256x1024";  // of the census
    bool census = false;
    bool search = false;
    std::string model_out;  // of the search, a model file
    bool json = false;
};

// The options of the command line that fill them; they must outlive the options.
std::vector<Option> options_of(IdentifyGemmOptions& options);

// Returns the exit code.
int identify_gemm_device(const IdentifyGemmOptions& options, const DeviceChoice& choice,
                         const Client& device);

// The exit code of an identification that came to nothing, with its sentence: a device that does
// not do this was not tested; anything else is its fault, or this machine's.
int refused(const Error& error);

}  // namespace mx::cli
