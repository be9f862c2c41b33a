// Small tensors chosen by hand, each for the bugs of real scales that it brings to light, and a way
// to play them to a device. Used by the tests here; knows no expected bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/mutants/planted_plugin.hpp"

namespace mx::mutants::real_scale {

using Codes = std::vector<std::uint32_t>;

struct Probe {
    std::string_view name;
    const char* format = "nvfp4";
    const char* dialect = "te-nvfp4";
    const char* type = "f32";
    std::int64_t rows = 1, columns = 16;
    Codes values;       // of dequantize the elements
    Codes scales = {};  // of dequantize, which it makes of the probe
    Codes number = {};  // the one that is given, or was kept
    Codes random = {};
    const char* axis = "row";
    const char* code_layout = "strided";
    const char* scale_layout = "strided";
};

const std::vector<Probe>& probes();

struct Answer {
    mx_status status;
    std::vector<unsigned char> bytes;  // of all outputs, which began as 0x43
};
Answer answer_of(const Planted& planted, const Probe& probe);

Codes bits_of(const std::vector<float>& values);

}  // namespace mx::mutants::real_scale
