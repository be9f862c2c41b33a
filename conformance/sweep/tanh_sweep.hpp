// PTX tanh.approx.f32 of a GPU over all 2^32 codes of f32, against the fast oracle in the same
// kernel: its results change with nearly every input, so no list of runs could travel. Must not
// include a CUDA header.
#pragma once

#include <cstdint>

#include "reference/base/status.hpp"

namespace mx::sweep {

struct TanhDifferences {
    std::uint64_t count = 0;
    std::uint32_t input = 0;   // the lowest code that differs, if any
    std::uint32_t actual = 0;  // of the instruction
    double seconds = 0;        // on the GPU
};
Expected<TanhDifferences> compare_tanh();

}  // namespace mx::sweep
