// What mxcheck accuracy measures of each operation. Used by cmd_accuracy.cpp.
#pragma once

#include <cstdint>

#include "conformance/cli/device_choice.hpp"

namespace mx::cli {

struct AccuracyArguments {
    std::string operation = "quantize";
    std::string input;
    std::vector<std::string> formats;   // of a GEMM words of factors; empty: the usual ones
    std::vector<std::string> dialects;  // empty: dialects_of
    std::vector<std::string> data;      // empty: the usual ones
    std::uint64_t elements = 1 << 20;
    std::uint64_t block = 32;
    std::uint64_t seed = 0;
    DeviceChoice choice{.device = ""};  // "": none
    std::uint64_t timeout_seconds = 60;
    bool stochastic = false;
    bool json = false;
    // Of a GEMM alone:
    std::string format_b;             // "": that of A
    std::vector<std::string> models;  // empty: all that take the factors
    std::vector<std::string> outputs{"f32"};
    std::vector<std::string> depths{"128", "1024", "4096"};
    std::vector<std::string> algorithms{"default"};
    std::uint64_t side = 16;  // of D
};

// Those that were named; else of ocp and nv those that quantize the format, and of a format that
// neither does its usual one.
std::vector<std::string> dialects_of(const AccuracyArguments& arguments, const std::string& format);

// Blocks on named data or the user's tensors: noise, relative errors, what is clamped or flushed.
int accuracy_of_quantize(const AccuracyArguments& arguments);

// Products of named data against the exact product, in units of a model's bound.
int accuracy_of_gemm(const AccuracyArguments& arguments);

}  // namespace mx::cli
