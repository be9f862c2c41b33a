// A block of 16 values to the codes and the scale of NVFP4, for the kernels that must run at the
// speed of memory, and on a host. The steps to the scale are those of real_scale.cuh; what is here
// is the largest of 16 values and the rounding of 16 elements.
#pragma once

#include <cstdint>

#include "device/cuda/nvfp4_rules.hpp"
#include "device/cuda/real_scale.cuh"
#include "device/cuda/values.cuh"

namespace mx::cuda {

// Words of a block.
template <ValueType type>
inline constexpr int nvfp4_words = 16 / per_word<type>;

struct Nvfp4Codes {
    std::uint32_t low, high;  // 8 codes each, the first in the lowest bits
    std::uint8_t scale;
};

// What 8 values become: those of one register of codes.
struct Scaled8 {
    float values[8];
};

// 8 codes of E2M1 of values whose magnitude is below 7, to nearest even; below 7 nothing rounds
// beyond 6. For v = |value| let B be the power of two that is at most max(v, 1): 1, 2 or 4, and
// k = 0, 1 or 2 its exponent. The elements around v lie 2^(k-1) apart, which is the lowest bit of
// the sum R = B * 2^22 + v, so that the sum is rounded as the element is, and ties to even alike:
//
//     bits of R:  exponent field 149 + k | mantissa n, v in units of 2^(k-1)
//     code:       n for k = 0, n + 2 for k = 1, n + 4 for k = 2: n + 2k
//     R + (R >> 22) = (149 + k) * 2^23 + n + 2 * (149 + k) = (149 + k) * 2^23 + code + 298
//
// The first term must not be there where it would reach into other codes: after the shifts to
// follow, that is for the last three. The 298 is the same for all and leaves with one subtraction.
MX_CUDA_BOTH inline std::uint32_t e2m1_codes(const Scaled8& scaled) {
    std::uint32_t codes = 0, signs = 0;
    MX_CUDA_UNROLL
    for (int i = 7; i >= 0; --i) {
        const float value = scaled.values[i];
        const float v = magnitude(value);
        const float power = float_of(bits_of(larger_number(v, 1.0f)) & 0x7F800000u);
        const std::uint32_t r = bits_of(sum_with_exact_product(power, 0x1p22f, v));
        std::uint32_t term = r + (r >> 22);
        if (i < 3) term &= 0x3FFu;
        codes = (codes << 4) + term;
        signs = signs << 4 | bits_of(value) >> 28;
    }
    codes -= 298u * 0x11111111u;
    return (codes & 0x77777777u) | (signs & 0x88888888u);
}

// The same of any values: beyond 6 they are 6, and NaN has the code of the rule.
MX_CUDA_BOTH inline std::uint32_t any_e2m1_codes(const Scaled8& scaled, std::uint8_t nan_code) {
    Scaled8 held;
    std::uint32_t nan_codes = 0, nan_places = 0;
    MX_CUDA_UNROLL
    for (int i = 0; i < 8; ++i) {
        const float value = scaled.values[i];
        const std::uint32_t sign = bits_of(value) & 0x80000000u;
        held.values[i] = magnitude(value) < 6.0f ? value : float_of(sign | bits_of(6.0f));
        if (is_nan(value)) {
            nan_codes |= static_cast<std::uint32_t>(nan_code) << (4 * i);
            nan_places |= 0xFu << (4 * i);
        }
    }
    return (e2m1_codes(held) & ~nan_places) | nan_codes;
}

// The largest magnitude of a block as the bits of a float32; a NaN is above everything.
template <ValueType type>
MX_CUDA_BOTH std::uint32_t nvfp4_amax(const std::uint32_t (&words)[nvfp4_words<type>]) {
    std::uint32_t largest = magnitudes<type>(words[0]);
    MX_CUDA_UNROLL
    for (int i = 1; i < nvfp4_words<type>; ++i)
        largest = larger<type>(largest, magnitudes<type>(words[i]));
    return f32_bits<type>(folded<type>(largest));
}
template <ValueType type>
MX_CUDA_BOTH std::uint32_t nvfp4_amax_without_nan(const std::uint32_t (&words)[nvfp4_words<type>]) {
    std::uint32_t largest = 0;
    MX_CUDA_UNROLL
    for (int i = 0; i < nvfp4_words<type>; ++i)
        largest = larger<type>(largest, without_nan<type>(magnitudes<type>(words[i])));
    return f32_bits<type>(folded<type>(largest));
}

// Values 8 * half to the eighth, scaled.
template <ValueType type>
MX_CUDA_BOTH Scaled8 scaled_half(const std::uint32_t (&words)[nvfp4_words<type>], int half,
                                 float factor) {
    constexpr int each = per_word<type>;
    Scaled8 result;
    MX_CUDA_UNROLL
    for (int i = 0; i < 8; ++i) {
        const int place = 8 * half + i;
        result.values[i] = product(value_of<type>(words[place / each], place % each), factor);
    }
    return result;
}

// Products grow with the values: where that of the amax is below 7, no element is beyond 6, and
// none is NaN.
template <ValueType type>
MX_CUDA_BOTH Nvfp4Codes nvfp4_codes(const BlockSetting& setting,
                                    const std::uint32_t (&words)[nvfp4_words<type>]) {
    std::uint32_t amax = nvfp4_amax<type>(words);
    const bool has_nan = amax > f32_infinity;
    if (has_nan && setting.rule.nan_in_amax == NanInAmax::left_out)
        amax = nvfp4_amax_without_nan<type>(words);
    const BlockScale scale = scale_from_ratio(setting, ratio_of_block(setting, float_of(amax)));
    const Scaled8 low = scaled_half<type>(words, 0, scale.factor);
    const Scaled8 high = scaled_half<type>(words, 1, scale.factor);
    if (!has_nan && product(float_of(amax), scale.factor) < 7.0f)
        return {e2m1_codes(low), e2m1_codes(high), scale.code};
    const std::uint8_t nan_code = setting.rule.nan_of_e2m1;
    return {any_e2m1_codes(low, nan_code), any_e2m1_codes(high, nan_code), scale.code};
}

}  // namespace mx::cuda
