// Small products chosen by hand, each for the bugs it brings to light, and a way to play them to a
// device. Used by the tests here; knows no expected bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/mutants/planted_plugin.hpp"

namespace mx::mutants::gemm {

using Codes = std::vector<std::uint32_t>;

inline constexpr std::uint32_t one = 0x38;  // E4M3

struct ProbeFactor {
    const char* type;
    Codes codes;
    Codes scales = {};  // bytes as they lie in their buffer, or the bits of one binary32
    const char* layout = "strided";  // else the codes are bytes, as they lie in their buffer
    std::int64_t scale_rows = 0;     // of a buffer with pads between groups; 0: as the codes
};

// Of one batch.
struct ProbeShape {
    std::int64_t rows, columns, depth, batches = 1;
};

struct Probe {
    std::string_view name;
    ProbeShape shape;
    ProbeFactor a, b;
    const char* scaling = nullptr;
    const char* scale_layout = "strided";
    const char* d_type = "f32";
    std::uint32_t alpha = 0x3F800000, beta = 0;
    Codes c = {};
    std::int64_t pitch_of_c = 0;  // elements from row to row; 0: no pads
    const char* epilogue = nullptr;
    const char* accumulation = nullptr;
    Codes bias = {};
    const char* dialect = nullptr;  // where D has scales of its own
    Codes scale_d = {};             // of a D of NVFP4, which is packed
    Codes offsets = {};             // of a grouped product

    std::int64_t rows_of_b() const {
        const auto groups = static_cast<std::int64_t>(offsets.size()) - 1;
        return shape.columns * (offsets.empty() ? shape.batches : groups);
    }
};

const std::vector<Probe>& probes();

struct Answer {
    mx_status status;
    Codes d;  // with its scales behind it; red zone and inputs are not part of it
};
Answer answer_of(const Planted& planted, const Probe& probe);

// Factors of whole matrices of one code each.
Probe uniform(std::string_view name, const ProbeShape& shape, std::uint32_t a, std::uint32_t b);

}  // namespace mx::mutants::gemm
