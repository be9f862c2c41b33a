// What mxcheck accuracy prints of each operation. Used by cmd_accuracy.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/accuracy/request.hpp"
#include "conformance/cli/device_choice.hpp"

namespace mx::cli {

struct AccuracyArguments {
    std::string operation = "quantize";
    accuracy::AccuracyRequest request;
    DeviceChoice choice{.device = ""};  // "": none
    std::uint64_t timeout_seconds = 60;
    bool json = false;
};

// Blocks on named data or the user's tensors: noise, relative errors, what is clamped or flushed.
int accuracy_of_quantize(const AccuracyArguments& arguments);

// Products of named data against the exact product, in units of a model's bound.
int accuracy_of_gemm(const AccuracyArguments& arguments);

}  // namespace mx::cli
