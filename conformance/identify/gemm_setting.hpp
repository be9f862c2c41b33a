// What GEMM a device is asked for, by the words of options. Used by mxcheck identify --op gemm.
#pragma once

#include <string>
#include <vector>

#include "conformance/identify/gemm_subject.hpp"

namespace mx::identify {

struct GemmWords {
    std::vector<std::string> types = {};    // of A and B; one for both; none: what the device takes
    std::vector<std::string> scaling = {};  // likewise
    std::vector<std::string> formats = {};  // MX formats instead of types and scaling
    std::string accumulation = {};
    std::string algorithm = {};
};

// As error: names that no table has, and formats that no machine multiplies. Where nothing is said
// about scales, FP8 has one for each tensor if the device takes it. Where nothing is said at all,
// it is E4M3, or if the device does not take that, the first that it takes of MX, NVFP4 and the
// types of 16 and 32 bits.
Expected<GemmProblem> setting_of(const GemmWords& words, const Client& device);

// "256x256x1024"
Expected<GemmShape> shape_of(const std::string& text);

// "none", "tensor", "1x32", ...
std::string scaling_text(FactorScaling scaling);

}  // namespace mx::identify
