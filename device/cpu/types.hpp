// The plain types of the CPU device: which inputs, which elements, which rule, where the bytes lie.
// Used by every file of device/cpu. Knows nothing of the device ABI, of names or of the oracle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::cpu {

enum class ValueType { f32, bf16, f16 };
enum class ElementType { e4m3, e5m2, e3m2, e2m3, e2m1, int8, int8_symmetric, ue5m3 };

constexpr int width_of(ValueType type) {
    return type == ValueType::f32 ? 4 : 2;
}

// binary32, the common currency of the device: every input is widened to it exactly.
inline constexpr std::uint32_t f32_magnitude_mask = 0x7FFFFFFFu;
inline constexpr std::uint32_t f32_infinity = 0x7F800000u;
inline constexpr std::uint32_t f32_nan = 0x7FC00000u;

inline constexpr std::uint8_t scale_nan = 0xFF;

// A floating-point grid whose codes the device writes: elements, and the types it dequantizes to.
struct Grid {
    int mantissa_bits;
    int exponent_min;             // of the smallest normal value
    std::uint32_t code_max;       // largest finite magnitude
    std::uint32_t code_overflow;  // Inf, or NaN where there is no Inf, or code_max where neither is
};

constexpr Grid grid_of(ValueType type) {
    if (type == ValueType::f32) return {23, -126, 0x7F7FFFFF, 0x7F800000};
    if (type == ValueType::bf16) return {7, -126, 0x7F7F, 0x7F80};
    return {10, -14, 0x7BFF, 0x7C00};
}

enum class Signs { sign_bit, twos_complement };

// An element format. INT8 is a grid too: 128 magnitudes, all in the lowest binade, whose unit is
// 2^-6.
struct Element {
    Grid grid;
    std::uint32_t code_max_negative;  // as a magnitude
    int sign_place;                   // the bit of a code that holds its sign; 8: there is none
    std::uint32_t special_from;       // the first magnitude code that is Inf or NaN
    Signs signs;
};
inline constexpr std::uint32_t no_specials = 0x100;

constexpr Element element_of(ElementType type) {
    switch (type) {
        case ElementType::e4m3:
            return {{3, -6, 0x7E, 0x7F}, 0x7E, 7, 0x7F, Signs::sign_bit};
        case ElementType::e5m2:
            return {{2, -14, 0x7B, 0x7C}, 0x7B, 7, 0x7C, Signs::sign_bit};
        case ElementType::e3m2:
            return {{2, -2, 0x1F, 0x1F}, 0x1F, 5, no_specials, Signs::sign_bit};
        case ElementType::e2m3:
            return {{3, 0, 0x1F, 0x1F}, 0x1F, 5, no_specials, Signs::sign_bit};
        case ElementType::e2m1:
            return {{1, 0, 0x7, 0x7}, 0x7, 3, no_specials, Signs::sign_bit};
        case ElementType::int8:
            return {{7, 1, 0x7F, 0x7F}, 0x80, 7, no_specials, Signs::twos_complement};
        case ElementType::ue5m3:
            return {{3, -14, 0xFE, 0xFF}, 0xFE, 8, 0xFF, Signs::sign_bit};
        case ElementType::int8_symmetric:
            break;
    }
    return {{7, 1, 0x7F, 0x7F}, 0x7F, 7, no_specials, Signs::twos_complement};
}

enum class Rounding {
    nearest_even,
    nearest_away,
    nearest_toward_zero,
    toward_zero,
    toward_positive,
    toward_negative,
    away_from_zero,
    to_odd,
    stochastic,
};

// What becomes of a value beyond the largest finite element.
enum class OverflowMode { saturate, overflow };

enum class Subnormals { honoured, inputs_flushed, outputs_flushed };

// The code of a NaN. `payload_kept` and `of_overflow_too` are of FP8 alone.
enum class NanForm {
    one_code,         // nan_code, whatever the NaN was
    of_overflow_too,  // ... and so is the NaN that an overflow becomes, which else has a sign
    payload_kept,     // the sign and the upper bits of the NaN's mantissa, the first one set
};

// How a value becomes an element, wherever the format leaves a choice.
struct Conversion {
    Rounding rounding = Rounding::nearest_even;
    int random_digits = 0;  // of stochastic rounding
    int random_shared = 0;  // 4: one random word serves four lanes; 0: each has its own
    OverflowMode overflow = OverflowMode::saturate;
    Subnormals subnormals = Subnormals::honoured;
    std::uint8_t nan_code = 0;
    NanForm nan_form = NanForm::one_code;
};

enum class NanPolicy {
    poisons_block,  // scale 0xFF and every element NaN; an Inf does the same
    own_lane,       // left out of amax; only its own lane becomes NaN; an Inf saturates
};

// From the bits of a block's amax (binary32, sign taken off) to its scale byte:
//     amax < one_from ? 0 : ((amax + round_up) >> 23) - exponent_offset
// Adding below the exponent field carries into it when the mantissa is large enough, so each rule
// of rounding the exponent is one constant. Why that holds for each rule stands in rules.cpp.
struct ScaleRule {
    std::uint32_t round_up;
    std::uint32_t exponent_offset;
    std::uint32_t one_from;       // the least amax whose byte is not 0
    std::uint32_t overflow_from;  // amax bits at or above: overflow_code
    std::uint8_t overflow_code;
    NanPolicy nan_policy;
};

// Bytes with two strides, both counted in elements. Always seen with the blocks lying along the
// lanes: what the caller calls columns of a columnwise tensor are the lines here.
struct Plane {
    std::uint8_t* data;
    std::ptrdiff_t line_stride;
    std::ptrdiff_t lane_stride;
};

struct Extent {
    std::ptrdiff_t lines;
    std::ptrdiff_t lanes;
};

enum class Stores {
    cached,
    streaming,  // past the caches
};

// Output larger than this goes past the caches: it would only push the input out of them.
inline constexpr std::size_t streaming_bytes = std::size_t{8} << 20;

}  // namespace mx::cpu
