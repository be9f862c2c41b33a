// A dialect: one small enum for each freedom the specification leaves to a quantizer. Both oracles
// switch on these fields and on nothing else; no code asks for a dialect's name.
//
//   lanes -> amax -> shortened -> at least amax_min -> ratio -> at least ratio_min -> E8M0 byte
//   lane / scale -> element
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "reference/spec/formats.hpp"
#include "reference/spec/rounding.hpp"

namespace mx {

// fl32 is rounding to nearest even in binary32. emax is the exponent of the element format's
// largest value, max that value, M its mantissa bits.

// The amax before it becomes a ratio.
enum class AmaxRounding {
    none,
    nearest_away,         // to M mantissa bits, ties away: add 2^(22-M) to the bits
    nearest_toward_zero,  // to M mantissa bits, ties down: add 2^(22-M) - 1
    one_bit_away,         // to one mantissa bit whatever the format, ties away
    whole_log2f,          // to a power of two if log2, rounded once to binary32, says it is one
};

// From the amax to what becomes the scale.
enum class ScaleRatio {
    over_emax,                 // amax / 2^emax
    over_emax_f32,             // fl32(amax / 2^emax): the same but where the quotient is subnormal
    times_reciprocal,          // fl32(amax * fl32(1 / max))
    times_reciprocal_flushed,  // the same product, zero where it is subnormal
    divided,                   // fl32(amax / max)
    none,                      // the amax itself: a cast of a value, or a library that forgot emax
};

// From that ratio to the exponent of a power of two.
enum class ScaleRounding {
    toward_zero,
    toward_positive,
    nearest_even,  // on the values of E8M0: 1.5 is half way, a tie goes to the even byte
    nearest_away,  // on the values of E8M0: 1.5 goes up
    nearest_log2,  // floor(log2(ratio) + 1/2): the square root of 2 is half way
    ceil_log2f,    // ceil of log2 rounded to binary32: wrong just above powers of two
};

// A positive ratio below 2^-126, where the binary32 bits of the ratio are subnormal.
enum class ScaleUnderflow {
    clamp,           // rounded as any other, and at least 0x00
    above_2tom127,   // 0x01 above 2^-127, else 0x00: byte 0 taken for zero, whatever the rounding
    any_bit_counts,  // (bits + 0x7FFFFF) >> 23: whatever is not zero gives 0x01
};

// What becomes of a negative argument. Only a cast meets one: an amax has no sign.
enum class NegativeScale { magnitude, zero_byte, nan_byte };

// A ratio becomes a byte: rounding, limits, and the bytes of what is not a positive number.
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

// A NaN among the inputs.
enum class NanInBlock {
    poisons_amax,         // the amax is NaN
    own_lane_only,        // the amax is that of the other lanes
    own_lane_unless_all,  // ... and NaN where there are no other lanes
};

// An infinity among the inputs.
enum class InfinityInBlock {
    is_amax,
    own_lane_only,     // the amax is that of the other lanes
    counts_as_2to128,  // is the amax, and its exponent field is read as a number
};

// The scale of a block whose amax is zero. Elements are zeros.
enum class ZeroBlock {
    as_cast,        // the cast's byte for zero
    one_over_emax,  // 2^-emax
    as_2tom126,     // that of an amax of 2^-126
};

// What an element is divided by.
enum class Inverse {
    exact_power,         // 2^(byte - 127); NaN for 0xFF
    one_for_byte_zero,   // ... but byte 0 divides by 1
    zero_for_byte_zero,  // ... but byte 0 multiplies by 0
    zero_at_both_ends,   // ... but bytes 0 and 254 multiply by 0: their inverses were flushed
    of_scale_bits,    // ... but the bytes are exponent fields: 0 multiplies by 0, and so does 255
    over_scale_bits,  // ... but the same fields divide: by 2^-126 for 0, by infinity for 255
};

// The code of a NaN element.
enum class NanCode {
    positive_all_ones,  // 0x7F whatever the input's sign; the largest value where there is no NaN
    sign_kept,          // the same with the input's sign
    largest,            // the largest value: a clamp came first
    as_number,          // all ones where there is NaN; else the low bits of 1.5 * 2^128
};

// A zero element, given or from underflow.
enum class SignOfZero {
    kept,
    dropped,
    input_dropped,      // -0 becomes +0; a negative value that underflows keeps its sign
    underflow_dropped,  // a negative value that underflows becomes +0; -0 keeps its sign
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
    std::string_view source;  // clause, or repository@commit:path

    // What must be measured on hardware before the scale is known; "" where all is known. A row
    // that waits quantizes nothing yet, but casts to E8M0.
    std::string_view waits;

    FormatSet formats;  // those the source quantizes to; none for a cast to E8M0 alone
    InputSet inputs;    // the types it reads

    AmaxRounding amax_rounding;
    std::uint32_t amax_min;  // binary32 code; an amax below it is raised to it
    ScaleRatio scale_ratio;
    std::uint32_t ratio_min;  // binary32 code
    ScaleCast scale_cast;
    ZeroBlock zero_block;
    NanInBlock nan_in_block;
    InfinityInBlock infinity_in_block;
    Inverse inverse;
    Rounding element_rounding;
    Overflow element_overflow;
    Subnormals subnormals;
    NanCode nan_code;
    SignOfZero sign_of_zero;
    NanValue nan_value;

    // Decisions the source leaves open: the fields above then hold our choice, and a device that
    // differs there is a deviation, not a failure.
    std::uint32_t open;

    // In every field, names too: the proofs compare rows from which they took what does not count.
    friend constexpr bool operator==(const Dialect&, const Dialect&) = default;

    constexpr bool leaves_open(Decision decision) const {
        return (open & static_cast<std::uint32_t>(decision)) != 0;
    }
    constexpr bool quantizes(const BlockFormat& format) const { return contains(formats, format); }
    constexpr bool is_known() const { return waits.empty(); }
    constexpr bool reads(std::string_view type) const { return contains_input(inputs, type); }
};

}  // namespace mx
