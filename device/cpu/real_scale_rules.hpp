// Blocks whose scale is a number with a mantissa: the formats, and what each library computes, as
// rows of small choices. Used by real_scale.cpp and the ABI glue. Must not know the oracle's
// tables: written apart from them.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/cpu/types.hpp"
#include "device/kit/blocks.hpp"

namespace mx::cpu {

// "S" is the number of the whole tensor, "largest" the largest element. Every step is one operation
// of binary32, rounded to nearest even.

enum class RealScaleType { ue4m3, ue5m3, f32 };
constexpr std::string_view name_of(RealScaleType type) {
    return type == RealScaleType::ue4m3 ? "ue4m3" : type == RealScaleType::ue5m3 ? "ue5m3" : "f32";
}
using kit::BlockShape;

// Formats that a library quantizes to together, one bit each.
inline constexpr unsigned nvfp4_lines = 1, nvfp4_tiles = 2, fp8_e4m3_128 = 4, fp8_e5m2_128 = 8,
                          fp8_tensors = 16, fp8_short_lines = 32, fp4_ue5m3 = 64;

struct RealScaleFormat {
    std::string_view name;
    unsigned family;
    ElementType element;
    RealScaleType scale;
    BlockShape shape;
    int size;  // of a block's edge; 0 for the whole tensor
};

// Types of values, one bit each.
inline constexpr unsigned reads_f32 = 1, reads_bf16 = 2, reads_f16 = 4;
constexpr unsigned bit_of(ValueType type) {
    return type == ValueType::f32 ? reads_f32 : type == ValueType::bf16 ? reads_bf16 : reads_f16;
}

enum class NanInAmax { passed_over, kept };

// How S follows from the amax of the tensor; range is the largest element times scale_max.
enum class TensorNumber {
    none,
    range_over_amax,           // at most the largest binary32; 1 where it is 0, and for amax 0
    amax_over_range,           // amax / range
    amax_times_inverse_range,  // amax * (1 / range)
    amax_over_range_1em30,     // amax / range, at least 1e-30; NaN counts as 0, Inf as the largest
    scale_of_history,          // it is given, and no amax is
};

// From the amax of a block to what becomes its scale.
enum class Ratio {
    divided,              // amax / largest
    times_inverse,        // amax * (1 / largest)
    divided_over_number,  // (amax / largest) / S
    over_number_divided,  // (amax / S) / largest
    times_inverse_over_number,
    divided_times_number,  // (amax / largest) * S
    times_scaled_number,   // amax * (S * (1 / largest)), at most the largest binary32
    encode,                // largest / amax
    encode_within_f32,     // ... at most the largest binary32; 1 for an amax of 0, Inf or NaN
    encode_within_input,   // ... the same, and the input's largest value instead of Inf
    number,                // S itself
};

// What scales there are.
enum class ScaleGrid {
    f32,
    power_of_two_below,  // binary32 without its mantissa
    power_of_two_above,  // from 2^-126 to 2^127, which is that of Inf and NaN, too
    nearest,             // in the type of the scale, E4M3 or UE5M3, and at most its largest
    least_absolute,      // the ratio or 1.5 times it: the one whose absolute errors, or whose
    least_squares,       // squared ones, have the smaller sum; else the first
};

// How an element is scaled.
enum class LaneScaling {
    times_scale,                      // and 1 / scale is what is stored
    times_inverse,                    // lane * (1 / scale)
    times_inverse_of_product,         // lane * (1 / (scale * (1 / S))), factor at most the largest
    times_inverse_number_over_scale,  // lane * ((1 / S) / scale)
    times_bf16_quotient,              // lane * (S / scale), in bfloat16 and at most its largest
    divided,                          // lane / scale
    divided_by_product,               // lane / (scale * S)
};

enum class WayBack {
    scale,             // element * scale
    scale_and_number,  // element * (S * scale)
    scale_and_amax,    // element * ((scale * amax) * (1 / range)), the amax of the tensor
};

struct RealScaleRule {
    std::string_view name;
    unsigned formats = 0;
    unsigned inputs = reads_f32 | reads_bf16 | reads_f16;
    bool rotates = false;  // by Hadamard's transform, before anything else
    NanInAmax nan_in_amax = NanInAmax::passed_over;
    bool keeps_nan_of_tensor = false;  // in the amax of the tensor, whatever a block does
    float amax_min = 0;
    TensorNumber number = TensorNumber::none;
    float scale_max = 448;
    Ratio ratio = Ratio::divided;
    float ratio_min = 0;
    ScaleGrid grid = ScaleGrid::nearest;
    LaneScaling scaling = LaneScaling::times_inverse;
    bool drops_sign_of_zero = false;  // of a lane that is -0
    bool looks_up = false;  // the nearest element in a table: none for Inf, and zeros have no sign
    Rounding rounding = Rounding::nearest_even;
    OverflowMode overflow = OverflowMode::saturate;
    std::uint8_t nan_of_e2m1 = 7;
    WayBack way_back = WayBack::scale;
};

// nullptr where the device does not know the name.
const RealScaleFormat* find_real_scale_format(std::string_view name);
const RealScaleRule* find_real_scale_rule(std::string_view dialect);

}  // namespace mx::cpu
