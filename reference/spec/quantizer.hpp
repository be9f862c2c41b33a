// A quantizer: one small enum for each freedom that the specification, or a library without one,
// takes. Both oracles switch on these fields and on nothing else; no code asks for a row's name.
//
//   [16 lanes rotated] -> amax of the tensor -> tensor scale S
//   lanes of a block -> amax -> shortened -> at least amax_min -> ratio -> at least ratio_min
//   -> block scale -> lane over scale -> element
//
// What the scale is decides how: an E8M0 byte is a power of two, so that a lane is divided exactly
// and rounded once. An E4M3, UE5M3 or binary32 scale has a mantissa; each arrow then rounds where
// the library rounds, to nearest even in binary32 (fl32), and the double rounding of the last step
// is part of the answer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "reference/spec/formats.hpp"
#include "reference/spec/rounding.hpp"

namespace mx {

// emax is the exponent of the element format's largest value, max that value, M its mantissa bits,
// MAX the largest element times scale_max.

// The type of a block's scale. Of a row without one, `convert` is all that there is: it rounds
// single values, as the conversion instructions of a processor do.
enum class ScaleType { e8m0, e4m3, ue5m3, f32, none };

constexpr std::string_view name_of(ScaleType type) {
    constexpr std::array<std::string_view, 5> names{"e8m0", "e4m3", "ue5m3", "f32", "none"};
    return names[static_cast<std::size_t>(type)];
}

// What becomes of the lanes before anything else.
enum class LaneTransform {
    none,
    hadamard16,  // signs, then the 16-point Hadamard transform, times 1/4, to bfloat16
};

// The number that belongs to the whole tensor.
enum class TensorScale {
    none,
    encode,                   // fl32(MAX / amax), at most the largest binary32; 1 for 0 or infinity
    decode_divided,           // fl32(amax / MAX)
    decode_times_reciprocal,  // fl32(amax * fl32(1 / MAX))
    decode_from_1em30,        // fl32(amax / MAX), at least 1e-30; NaN counts as 0, Inf as largest
    history,                  // fl32(max / amax) of earlier tensors: see DelayedScaling
};

// The amax before it becomes a ratio.
enum class AmaxRounding {
    none,
    nearest_away,            // to M mantissa bits, ties away: add 2^(22-M) to the bits
    nearest_away_to_2to128,  // ... where 2^128 is a number: its exponent field is read as one
    nearest_toward_zero,     // to M mantissa bits, ties down: add 2^(22-M) - 1
    one_bit_away,            // to one mantissa bit whatever the format, ties away
    whole_log2f,             // to a power of two if log2, rounded once to binary32, says it is one
    whole_log2f_to_2to127,   // ... but not to 2^128: the exponent is limited to 127
};

// From the amax to what becomes the scale.
enum class ScaleRatio {
    over_emax,                     // amax / 2^emax
    over_emax_f32,                 // fl32(amax / 2^emax): the same but where that is subnormal
    times_reciprocal,              // fl32(amax * fl32(1 / max))
    times_reciprocal_flushed,      // the same product, zero where it is subnormal
    divided,                       // fl32(amax / max)
    none,                          // the amax itself: a cast, or a library that forgot emax
    times_reciprocal_over_tensor,  // fl32(fl32(amax * fl32(1 / max)) / S)
    divided_over_tensor,           // fl32(fl32(amax / max) / S)
    over_tensor_divided,           // fl32(fl32(amax / S) / max)
    divided_times_tensor,          // fl32(fl32(amax / max) * S), S an encode scale
    times_scaled_tensor,           // fl32(amax * fl32(S * fl32(1 / max))), not above the largest
    max_over_amax,                 // fl32(max / amax): an encode scale, the stored one its inverse
    tensor,                        // S itself: the tensor is the block
};

// From that ratio to the exponent of a power of two.
enum class ScaleRounding {
    toward_zero,
    toward_positive,
    nearest_even,   // on the values of E8M0: 1.5 is half way, a tie goes to the even byte
    nearest_away,   // on the values of E8M0: 1.5 goes up
    nearest_log2,   // floor(log2(ratio) + 1/2): the square root of 2 is half way
    nearest_log2f,  // log2 rounded to binary32, then to a whole number, ties away from zero
    ceil_log2f,     // ceil of log2 rounded to binary32: wrong just above powers of two
};

// A positive ratio below 2^-126, where the binary32 bits of the ratio are subnormal.
enum class ScaleUnderflow {
    clamp,           // rounded as any other, and at least 0x00
    above_2tom127,   // 0x01 above 2^-127, else 0x00: byte 0 taken for zero, whatever the rounding
    any_bit_counts,  // (bits + 0x7FFFFF) >> 23: whatever is not zero gives 0x01
};

// What becomes of a negative argument. Only a cast meets one: an amax has no sign.
enum class NegativeScale {
    magnitude,
    zero_byte,
    zero_byte_if_finite,  // ... and -Inf counts as Inf
    nan_byte,
};

// A ratio becomes an E8M0 byte: rounding, limits, and the bytes of what is no positive number.
struct ScaleCast {
    ScaleRounding rounding;
    ScaleUnderflow underflow = ScaleUnderflow::clamp;
    std::uint8_t byte_min = 0x00;  // of a positive finite ratio
    std::uint8_t byte_max = 0xFE;  // of a positive finite ratio; above it:
    std::uint8_t overflow = 0xFF;  // ... this byte
    std::uint8_t infinity = 0xFF;
    std::uint8_t nan = 0xFF;
    std::uint8_t zero = 0x00;
    NegativeScale negative = NegativeScale::magnitude;
    friend constexpr bool operator==(const ScaleCast&, const ScaleCast&) = default;
};

// Of a row whose scale is no E8M0 byte; nothing reads it.
inline constexpr ScaleCast not_e8m0{.rounding = ScaleRounding::toward_zero};

// The values that a ratio is rounded to.
enum class ScaleRule {
    e8m0_cast,           // a byte, as scale_cast says
    f32,                 // the ratio as it is
    power_of_two_below,  // binary32 with its mantissa cleared
    power_of_two_above,  // the next power of two, in [2^-126, 2^127]; Inf and NaN give 2^127
    nearest,             // in the type of the scale, saturating
    best_of_two,         // "four over six": the ratio, or 1.5 times it, whichever errs less
};

// How two candidates for a block's scale are compared ("four over six").
enum class CandidateError { none, absolute, square };

// An encode scale of an amax that is zero, infinite or NaN.
enum class UselessAmax {
    as_computed,  // what the division gives
    one,
};

// An encode scale beyond binary32.
enum class EncodeOverflow {
    infinity,
    largest_f32,
    largest_input,  // the largest value of the input's type
};

// A NaN among the inputs, of a block or, for its amax, of the tensor.
enum class NanInBlock {
    poisons_amax,             // the amax is NaN
    own_lane_only,            // the amax is that of the other lanes
    own_lane_unless_all,      // ... and NaN where there are no other lanes
    own_lane_only_in_blocks,  // as own_lane_only for a block, as poisons_amax for the tensor
};

// An infinity among the inputs.
enum class InfinityInBlock {
    is_amax,
    own_lane_only,     // the amax is that of the other lanes
    counts_as_2to128,  // is the amax, and its exponent field is read as a number
};

// The scale of a block whose amax is zero. Elements are zeros.
enum class ZeroBlock {
    as_cast,        // the cast's byte for zero; where there is no cast, what the steps give
    one_over_emax,  // 2^-emax
    as_2tom126,     // that of an amax of 2^-126
};

// How the scale gets into a lane. An E8M0 scale divides it, or its inverse multiplies it; the first
// six differ in the bytes at the ends. Of any other scale, which may be an encode scale, each step
// is one of binary32.
enum class Inverse {
    exact_power,            // 2^(byte - 127); NaN for 0xFF
    one_for_byte_zero,      // ... but byte 0 divides by 1
    zero_for_byte_zero,     // ... but byte 0 multiplies by 0
    zero_at_both_ends,      // ... but bytes 0 and 254 multiply by 0: their inverses were flushed
    of_scale_bits,          // ... but the bytes are exponent fields: 0 and 255 multiply by 0
    over_scale_bits,        // ... but the same fields divide: by 2^-126 for 0, by infinity for 255
    encode_scale,           // times the encode scale before it was inverted to be stored
    reciprocal,             // times fl32(1 / scale)
    reciprocal_of_product,  // times fl32(1 / fl32(scale * fl32(1 / S))), at most the largest
    reciprocal_over_scale,  // times fl32(fl32(1 / S) / scale)
    bf16_quotient,          // times fl32(S / scale), at most the largest bfloat16, to bfloat16
    divided,                // fl32(lane / scale)
    divided_by_product,     // fl32(lane / fl32(scale * S))
    divided_if_finite,      // fl32(lane / scale), a NaN where that is infinite
};

// What becomes of lane / scale before it is rounded to an element. Read where the scale is E8M0.
enum class Quotient {
    exact,
    to_f16,            // rounded to binary16, ties to even: the element is rounded twice
    plus_half_in_f32,  // n units of the element's last place are rounded as floor(fl32(n + 1/2)):
                       // what lies 2^-25 units below the smallest tie goes up, too
};

// The code of a NaN element.
enum class NanCode {
    positive_all_ones,  // 0x7F whatever the input's sign; the largest value where there is no NaN
    sign_kept,          // the same with the input's sign
    largest,            // the largest value: a clamp came first
    as_number,          // all ones where there is NaN; else the low bits of 1.5 * 2^128
    zero,               // 0: the NaN was greater than no bound
    quiet_bit,        // sign 0 and of the mantissa the first bit alone: 0x7E in E5M2, 0x7F in E4M3
    payload_kept,     // the input's sign and the upper bits of its mantissa, the first one set
    of_overflow_too,  // 0x7F whatever the sign, and so is the NaN that an overflow becomes
};

// A zero element, given or from underflow. Where a lane is scaled in binary32, input_dropped asks
// for the lane before that, and none of such rows is underflow_dropped.
enum class SignOfZero {
    kept,
    dropped,
    input_dropped,      // -0 becomes +0; a negative value that underflows keeps its sign
    underflow_dropped,  // a negative value that underflows becomes +0; -0 keeps its sign
};

// A value from an element code. Under E8M0 the product is exact, and rounded once to the output.
enum class WayBack {
    times_scale,         // fl32(element * scale)
    times_scale_tensor,  // fl32(element * fl32(S * scale))
    times_scale_amax,    // fl32(element * fl32(fl32(scale * amax) * fl32(1 / MAX)))
};

// What a NaN value looks like in dequantized output.
enum class NanValue {
    any,  // any NaN of the output type
};

// A decision of which a row's source says nothing, or that it leaves to the hardware. Each is one
// bit of Quantizer::open.
enum class Decision : std::uint32_t {
    nan_in_block = 1u << 0,
    infinity_in_block = 1u << 1,
    zero_block = 1u << 2,
    scale_underflow = 1u << 3,
    sign_of_zero = 1u << 4,
    nan_code = 1u << 5,
    value_beyond_f32 = 1u << 6,  // OCP MX 5.1: |scale * element| above the largest binary32
    transform_order = 1u << 7,   // in which order a matrix unit adds the 16 products
    random_bits = 1u << 8,       // which bits decide which element
    scale_precision = 1u << 9,   // the type of the scale, and how it is rounded
    scale_range = 1u << 10,      // what becomes of a block whose scale rounds to 0, or is too large
};

struct NamedDecision {
    std::string_view name;
    std::string_view text;
    Decision decision;
};

inline constexpr std::array decisions{
    NamedDecision{"nan_in_block", "a NaN among the lanes", Decision::nan_in_block},
    NamedDecision{"infinity_in_block", "an infinity among the lanes", Decision::infinity_in_block},
    NamedDecision{"zero_block", "a block of zeros", Decision::zero_block},
    NamedDecision{"scale_underflow", "a scale below the smallest", Decision::scale_underflow},
    NamedDecision{"sign_of_zero", "the sign of a zero", Decision::sign_of_zero},
    NamedDecision{"nan_code", "the code of a NaN", Decision::nan_code},
    NamedDecision{"value_beyond_f32", "a value beyond binary32", Decision::value_beyond_f32},
    NamedDecision{"transform_order", "the order of the transform's sums",
                  Decision::transform_order},
    NamedDecision{"random_bits", "which random bits serve which lane", Decision::random_bits},
    NamedDecision{"scale_precision", "the precision of the scale", Decision::scale_precision},
    NamedDecision{"scale_range", "a scale that rounds to 0 or lies beyond the largest",
                  Decision::scale_range},
};

constexpr std::uint32_t operator|(Decision a, Decision b) {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b);
}
constexpr std::uint32_t operator|(std::uint32_t a, Decision b) {
    return a | static_cast<std::uint32_t>(b);
}

struct Quantizer {
    std::string_view name;
    std::string_view title;
    std::string_view source;  // clause, or repository@commit:path

    // What must be measured on hardware before the scale is known; "" where all is known. A row
    // that waits quantizes nothing yet, but casts to E8M0.
    std::string_view waits;

    ScaleType scale_type;
    FormatSet formats;  // those the source quantizes to; none for a cast to E8M0 alone. Of a row
                        // without scales those whose elements it converts to
    InputSet inputs;    // the types it reads

    LaneTransform transform;
    Subnormals subnormals;
    NanInBlock nan_in_block;
    InfinityInBlock infinity_in_block;
    AmaxRounding amax_rounding;
    std::uint32_t amax_min;  // binary32 code; a block's amax below it is raised to it
    ZeroBlock zero_block;
    TensorScale tensor_scale;
    int scale_max;  // the largest block scale that the tensor scale aims at; 0 under E8M0
    ScaleRatio scale_ratio;
    std::uint32_t ratio_min;  // binary32 code
    UselessAmax useless_amax;
    EncodeOverflow encode_overflow;
    ScaleRule scale_rule;
    ScaleCast scale_cast;
    CandidateError candidate_error;
    Inverse inverse;
    Quotient quotient;
    Rounding element_rounding;
    Overflow element_overflow;
    NanCode nan_code;
    SignOfZero sign_of_zero;
    WayBack way_back;
    NanValue nan_value;

    // Decisions the source leaves open: the fields above then hold our choice, and a device that
    // differs there is a deviation, not a failure.
    std::uint32_t open;

    // In every field, names too: the proofs compare rows from which they took what does not count.
    friend constexpr bool operator==(const Quantizer&, const Quantizer&) = default;

    constexpr bool leaves_open(Decision decision) const {
        return (open & static_cast<std::uint32_t>(decision)) != 0;
    }
    constexpr bool has_e8m0_scales() const { return scale_type == ScaleType::e8m0; }
    constexpr bool has_scales() const { return scale_type != ScaleType::none; }
    constexpr bool quantizes(const BlockFormat& format) const {
        return has_scales() && contains(formats, format);
    }
    constexpr bool is_known() const { return waits.empty(); }
    constexpr bool reads(std::string_view type) const { return contains_input(inputs, type); }
    constexpr bool divides_lanes() const {
        return inverse == Inverse::divided || inverse == Inverse::divided_by_product ||
               inverse == Inverse::divided_if_finite;
    }
    constexpr bool stores_inverse() const {
        return scale_ratio == ScaleRatio::max_over_amax || scale_ratio == ScaleRatio::tensor;
    }
};

// The rules by which the amax of the whole tensor is found.
MX_FOLDED constexpr Quantizer rules_of_tensor_amax(Quantizer quantizer) {
    if (quantizer.nan_in_block == NanInBlock::own_lane_only_in_blocks)
        quantizer.nan_in_block = NanInBlock::poisons_amax;
    return quantizer;
}

// Does a logarithm, rounded to binary32, decide the scale? It is the less exact the larger it is.
MX_FOLDED constexpr bool takes_log2f(const Quantizer& quantizer) {
    const ScaleRounding rounding = quantizer.scale_cast.rounding;
    return quantizer.amax_rounding == AmaxRounding::whole_log2f ||
           quantizer.amax_rounding == AmaxRounding::whole_log2f_to_2to127 ||
           rounding == ScaleRounding::nearest_log2f || rounding == ScaleRounding::ceil_log2f;
}

// The last step of a row whose lanes were scaled in binary32 before, as rules of an element. Of the
// rules for signs of zero only the one that drops all of them is left: where a -0 alone loses its
// sign, it lost it before.
MX_FOLDED constexpr Quantizer rules_after_product(const Quantizer& quantizer) {
    Quantizer rules{};
    rules.element_rounding = quantizer.element_rounding;
    rules.element_overflow = quantizer.element_overflow;
    rules.subnormals = Subnormals::honoured;
    rules.nan_code = quantizer.nan_code;
    const bool drops_all = quantizer.sign_of_zero == SignOfZero::dropped;
    rules.sign_of_zero = drops_all ? SignOfZero::dropped : SignOfZero::kept;
    return rules;
}

}  // namespace mx
