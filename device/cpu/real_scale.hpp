// Blocks whose scale has a mantissa, to codes and back, by a rule of real_scale_rules.hpp. Used by
// plugin.cpp, and by gemm for a D of NVFP4. Must not know names.
#pragma once

#include <optional>

#include "device/cpu/real_scale_rules.hpp"
#include "device/cpu/values.hpp"

namespace mx::cpu {

// Scales are bytes of E4M3 or UE5M3, or binary32. Blocks of no lines are the whole tensor.
struct RealScaleJob {
    RealScaleRule rule;
    ElementType element = ElementType::e2m1;
    RealScaleType scale_type = RealScaleType::ue4m3;
    Extent extent{};
    Extent block{};
    Values values;
    Plane codes{};
    Plane scales{};
    // Where the rule has a number for the tensor. Quantizing reads the one that is given, or finds
    // the amax, and keeps what dequantizing is given.
    std::optional<Plane> given;
    std::optional<Plane> kept;
    std::optional<Plane> random;  // a word for each element, where they are rounded stochastically
};

// Plain arithmetic of binary32: asks for rounding to nearest and for subnormals.
void quantize_real_scales(const RealScaleJob& job);
void dequantize_real_scales(const RealScaleJob& job);

}  // namespace mx::cpu
