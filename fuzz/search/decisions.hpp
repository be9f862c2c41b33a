// Which of the oracle's decisions an input reaches: the branch of the scale, what became of the
// amax, how each element was rounded. What guides a search, and what it says it has covered.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

#include "conformance/case/case.hpp"
#include "reference/fast/quantize.hpp"

namespace mx::fuzz {

// Branches of the oracle that a block can take. The names stand in decision_names, in the same
// order.
enum class Branch : std::uint8_t {
    amax_zero,
    amax_nan,
    amax_infinity,
    amax_subnormal,
    amax_normal,
    amax_negative,
    amax_twice,
    scale_exact,
    scale_up,
    scale_down,
    scale_half,
    border_above,
    border_below,
    scale_byte_0,
    scale_byte_1,
    scale_byte_254,
    scale_byte_255,
    exact,
    below_half,
    above_half,
    tie_to_lower,
    tie_to_upper,
    just_below_tie,
    just_above_tie,
    carry_to_next_binade,
    largest,
    saturated,
    overflowed,
    least,
    subnormal,
    underflow_positive,
    underflow_negative,
    zero_positive,
    zero_negative,
    nan_positive,
    nan_negative,
    nan_low_payload,
    infinity_positive,
    infinity_negative,
    input_subnormal,
    count
};
inline constexpr std::size_t decision_count = static_cast<std::size_t>(Branch::count);
inline constexpr std::array<std::string_view, decision_count> decision_names{
    "amax zero",
    "amax NaN",
    "amax Inf",
    "amax subnormal",
    "amax normal",
    "amax negative",
    "amax in two lanes",
    "scale exact",
    "scale rounded up",
    "scale rounded down",
    "scale half way",
    "amax just below a border of scales",
    "amax just above a border of scales",
    "scale byte 0",
    "scale byte 1",
    "scale byte 254",
    "scale byte 255",
    "element exact",
    "element below half way",
    "element above half way",
    "tie to the lower code",
    "tie to the upper code",
    "just below a tie",
    "just above a tie",
    "carry into the next binade",
    "largest element",
    "saturated",
    "overflow to Inf or NaN",
    "least element",
    "subnormal element",
    "underflow to +0",
    "underflow to -0",
    "+0",
    "-0",
    "NaN, sign 0",
    "NaN, sign 1",
    "NaN of low bits alone",
    "+Inf",
    "-Inf",
    "subnormal input"};

// Beside the decisions: in which lane the amax is (in 32 parts of a block), how far below the last
// kept bit the lowest bit of an element lies, each byte of a scale and each code of an element.
inline constexpr std::size_t lane_places = 32, sticky_places = 32, codes = 256;
inline constexpr std::size_t first_lane = decision_count;
inline constexpr std::size_t first_sticky = first_lane + lane_places;
inline constexpr std::size_t first_scale = first_sticky + sticky_places;
inline constexpr std::size_t first_element = first_scale + codes;
inline constexpr std::size_t reach_count = first_element + codes;
using Reach = std::bitset<reach_count>;

// The rules and formats of a case, looked up once.
struct Rules {
    explicit Rules(const Case& c);

    OperationKind kind;
    bool is_cast;
    Quantizer dialect;
    BlockFormat format;
    ElementFormat element;  // e8m0 for a cast
    ElementFormat values;
    fast::TensorNumbers tensor;  // of blocks whose scale has a mantissa
    std::uint32_t kept = 0;      // the number that dequantize is given

    // A cast's format is of no matter.
    bool has_real_scales() const { return !is_cast && !dialect.has_e8m0_scales(); }
    fast::BlockQuestion question() const { return {dialect, format, values, tensor}; }
    fast::DequantizeQuestion dequantize_question() const {
        return {dialect, format, values, fast::unpack(formats::f32, Code{kept})};
    }
};

// The scale of an amax: a byte, or the bits of a scale with a mantissa.
Code scale_of(const Rules& rules, const fast::Unpacked& amax);

// What one block reaches. `scale` counts for dequantize, where the lanes are codes.
Reach reach_of(const Rules& rules, std::span<const std::uint32_t> lanes, std::uint32_t scale);

// The decisions that the operation has at all: what there is to be reached.
std::bitset<decision_count> decisions_of(const Rules& rules);

}  // namespace mx::fuzz
