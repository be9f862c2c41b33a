// The names of formats and dialects whose scales have a mantissa. Used by real_scale_request.cpp;
// knows no tensor.
#pragma once

#include <span>
#include <string_view>

#include "device/cuda/real_scale.hpp"
#include "device/kit/blocks.hpp"

namespace mx::cuda {

using kit::BlockShape;

// Formats that a library quantizes to together, one bit each.
inline constexpr unsigned nvfp4_lines = 1, nvfp4_tiles = 2, fp8_e4m3_128 = 4, fp8_e5m2_128 = 8,
                          fp8_tensors = 16, fp8_short_lines = 32;

struct RealScaleFormat {
    std::string_view name;
    unsigned family;
    Element element;
    bool has_f32_scales;  // else E4M3
    BlockShape shape;
    int size;  // of a block's edge; 0 for the whole tensor
};

// Types of values, one bit each.
inline constexpr unsigned reads_f32 = 1, reads_bf16 = 2, reads_f16 = 4, reads_all = 7;
constexpr unsigned bit_of(ValueType type) {
    return type == ValueType::f32 ? reads_f32 : type == ValueType::bf16 ? reads_bf16 : reads_f16;
}

struct RealScaleDialect {
    std::string_view name;
    unsigned formats;
    unsigned inputs;
    RealScaleRule rule;
};

std::span<const RealScaleFormat> real_scale_formats();
std::span<const RealScaleDialect> real_scale_dialects();

// nullptr where the device does not know the name.
const RealScaleFormat* find_real_scale_format(std::string_view name);
const RealScaleDialect* find_real_scale_dialect(std::string_view name);

}  // namespace mx::cuda
