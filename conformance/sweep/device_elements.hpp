// The element path of device/cuda over its whole domain: every code of f32 under every scale byte,
// 2^40 pairs, against the fast oracle in the same kernel. Neither side's codes ever reach memory.
// Must not include a CUDA header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::sweep {

struct DeviceElements {
    std::string name;  // "device elements mxfp8-e4m3 ocp"
    Quantizer dialect;
    BlockFormat format;
};

// One for each format and each set of element rules that the device knows; dialects that share the
// rules share the sweep.
std::vector<DeviceElements> device_elements();

// A sweep is asked in parts, so that it can show progress and be interrupted.
inline constexpr int element_parts = 64;
inline constexpr std::uint64_t pairs_per_part = (std::uint64_t{1} << 40) / element_parts;

struct ElementDifferences {
    std::uint64_t count = 0;
    // One of them, if any.
    std::uint32_t input = 0;
    std::uint8_t scale = 0;
    std::uint8_t actual = 0;
    std::uint8_t expected = 0;
    double seconds = 0;  // on the GPU
};
Expected<ElementDifferences> compare_elements(const DeviceElements& sweep, int part);

}  // namespace mx::sweep
