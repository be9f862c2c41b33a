// Small inputs chosen by hand, each for the bugs it brings to light, and a way to play them to a
// device. Used by mutants_test alone; knows no expected bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device/abi/mx_device.h"

namespace mx::mutants {

using Codes = std::vector<std::uint32_t>;

// One operation, called once for each entry of `calls` on one open device. Every tensor is dense.
struct Probe {
    std::string_view name;
    mx_operation operation;
    const char* value_type;  // of the input, or of what dequantize writes
    std::int64_t rows, columns;
    std::vector<Codes> calls;  // values; the element codes of dequantize
    Codes scales;              // of dequantize
};

const std::vector<Probe>& probes();

// What a host would see: the status of each call, all outputs with a red zone behind each, and the
// inputs afterwards.
std::vector<unsigned char> play(const mx_device_api& api, const Probe& probe);

// The values a device gave to one call: first output, second output.
struct Outputs {
    mx_status status;
    Codes first, second;
};
Outputs outputs_of(const mx_device_api& api, const Probe& probe);

// A quantize, convert and encode_scale of one row, for tests with numbers of their own.
struct Question {
    const char* format;
    const char* dialect;
    const char* value_type;
};
Probe quantize_row(std::string_view name, Question question, const Codes& values);
Probe encode_scales(std::string_view name, Question question, const Codes& amax);
Probe convert_row(std::string_view name, Question question, const char* overflow,
                  const Codes& values);

Codes bits_of(const std::vector<float>& values);

}  // namespace mx::mutants
