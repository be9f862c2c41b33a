// Small inputs chosen by hand, each for the bugs it brings to light, and a way to play them to a
// device. Used by mutants_test alone; knows no expected bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/mutants/planted_plugin.hpp"

namespace mx::mutants {

using Codes = std::vector<std::uint32_t>;

// One operation, called once for each entry of `calls` on one open device.
struct Probe {
    std::string_view name;
    mx_operation operation{};
    const char* value_type;  // of the input, or of what dequantize writes
    std::int64_t rows, columns;
    std::vector<Codes> calls;  // values; of dequantize the element codes, in bytes where packed
    Codes scales;              // of dequantize, as they lie in their buffer
    Codes words = {};          // of stochastic roundings
    const char* code_layout = "strided";
    const char* scale_layout = "strided";
    std::int64_t row_gap = 0;  // poisoned values behind each row of the input
};

const std::vector<Probe>& probes();

// What a host would see: the status of each call, all outputs with a red zone behind each, and the
// inputs afterwards.
std::vector<unsigned char> play(const Planted& planted, const Probe& probe);

// What a device gave to one call: first output, second output. Bytes where a layout packs them.
struct Outputs {
    mx_status status;
    Codes first, second;
};
Outputs outputs_of(const Planted& planted, const Probe& probe);

// One operation on one row, for tests with numbers of their own.
struct Question {
    const char* format;
    const char* dialect;
    const char* value_type;
};
inline constexpr Question ocp{"mxfp8-e4m3", "ocp", "f32"}, nv{"mxfp8-e4m3", "nv", "f32"};
inline constexpr Question fp4{"mxfp4-e2m1", "ocp", "f32"}, fp6{"mxfp6-e3m2", "ocp", "f32"};
inline constexpr std::uint32_t f32_infinity = 0x7F800000, f32_nan = 0x7FC00000;
inline constexpr std::uint32_t f32_negative_nan = 0xFFC00000;

Probe quantize_row(std::string_view name, Question question, const Codes& values);
Probe encode_scales(std::string_view name, Question question, const Codes& amax);
Probe convert_row(std::string_view name, Question question, const char* overflow,
                  const Codes& values);
// Of one scale for each 32 codes.
Probe dequantize_row(std::string_view name, Question question, const Codes& codes,
                     const Codes& scales);

// The same rows one below the other, in blocks along `axis`.
struct Extent {
    std::int64_t rows, columns;
};
Probe shaped(Probe probe, Extent extent, const char* axis = "row");
Probe in_blocks_of(Probe probe, std::int64_t block_size);
Probe rounded(Probe probe, const char* rounding, const Codes& words = {});
Probe stored(Probe probe, const char* code_layout, const char* scale_layout = "strided");

Codes bits_of(const std::vector<float>& values);

}  // namespace mx::mutants
