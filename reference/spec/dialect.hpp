// A dialect: one small enum for each freedom the specification leaves to a quantizer. Both oracles
// switch on these fields and on nothing else; no code asks for a dialect's name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "reference/spec/rounding.hpp"

namespace mx {

// From the block's finite amax to the exponent of the shared scale, before clamping to E8M0.
// emax is the exponent of the element format's largest value, M its mantissa bits.
enum class ScaleRule {
    floor_amax,      // floor(log2(amax)) - emax
    ceil_amax,       // ceil(log2(amax)) - emax
    even_amax,       // floor(log2(amax rounded to M mantissa bits, ties away)) - emax
    round_up_ratio,  // ceil(log2(fl32(amax * fl32(1 / max element)))), fl32 = nearest-even binary32
};

// An amax of infinity, or a scale exponent above 127.
enum class ScaleOverflow {
    nan,       // scale 0xFF: the whole block is NaN
    saturate,  // scale 0xFE
};

// A NaN among the inputs.
enum class NanInBlock {
    poisons_scale,  // amax is NaN, scale 0xFF, every element NaN
    own_lane_only,  // amax of the other lanes; only the NaN's own lane becomes NaN
};

// The scale of a block whose amax is zero. Elements are zeros.
enum class ZeroBlock {
    scale_min,  // 0x00, which is 2^-127
};

// A scale exponent below -127.
enum class ScaleUnderflow {
    clamp,  // 0x00
};

// The code of a NaN element.
enum class NanCode {
    positive_all_ones,  // 0x7F whatever the input's sign and payload
    sign_kept,          // 0x7F or 0xFF
};

// A zero element, given or from underflow.
enum class SignOfZero {
    kept,
    dropped,
};

// Inputs and results below the smallest normal value.
enum class Subnormals {
    honoured,
};

// What a NaN value looks like in dequantized output.
enum class NanValue {
    any,  // any NaN of the output type
};

// A decision of which a dialect's source says nothing. Each is one bit of Dialect::open.
enum class Decision : std::uint32_t {
    nan_in_block = 1u << 0,
    infinity_in_block = 1u << 1,
    zero_block = 1u << 2,
    scale_underflow = 1u << 3,
    sign_of_zero = 1u << 4,
    nan_code = 1u << 5,
    value_beyond_f32 = 1u << 6,  // OCP MX 5.1: |scale * element| above the largest binary32
};

inline constexpr std::array<std::pair<std::string_view, Decision>, 7> decisions{{
    {"nan_in_block", Decision::nan_in_block},
    {"infinity_in_block", Decision::infinity_in_block},
    {"zero_block", Decision::zero_block},
    {"scale_underflow", Decision::scale_underflow},
    {"sign_of_zero", Decision::sign_of_zero},
    {"nan_code", Decision::nan_code},
    {"value_beyond_f32", Decision::value_beyond_f32},
}};

constexpr std::uint32_t operator|(Decision a, Decision b) {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b);
}
constexpr std::uint32_t operator|(std::uint32_t a, Decision b) {
    return a | static_cast<std::uint32_t>(b);
}

struct Dialect {
    std::string_view name;
    std::string_view title;
    std::string_view source;  // clause, or repository:path at the commit it was read

    ScaleRule scale_rule;
    ScaleOverflow scale_overflow;
    ScaleUnderflow scale_underflow;
    ZeroBlock zero_block;
    NanInBlock nan_in_block;
    Rounding element_rounding;
    Overflow element_overflow;
    Subnormals subnormals;
    NanCode nan_code;
    SignOfZero sign_of_zero;
    NanValue nan_value;

    // Decisions the source leaves open: the fields above then hold our choice, and a device that
    // differs there is a deviation, not a failure.
    std::uint32_t open;

    constexpr bool leaves_open(Decision decision) const {
        return (open & static_cast<std::uint32_t>(decision)) != 0;
    }
};

}  // namespace mx
