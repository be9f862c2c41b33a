// From the amax of a block to its scale byte and to the factor of its elements, on the GPU and
// on a host. Used by every kernel. Knows nothing of tensors.
#pragma once

#include <cstdint>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/types.hpp"

namespace mx::cuda {

// The conversion to ue8m0 exists where the code is compiled for the families 100f and 120f or for
// one chip of them, as 100a; a plain sm_100 has it not. UNVERIFIED: no such GPU has run this yet.
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000
#define MX_CUDA_HAS_SCALE_CONVERSION 1
#else
#define MX_CUDA_HAS_SCALE_CONVERSION 0
#endif

// The next power of two up, of a value that is not negative. 2^-127, which is subnormal, has the
// byte 0; so has all below it.
MX_CUDA_BOTH inline std::uint8_t e8m0_up(float value, ScaleOverflow overflow) {
#if MX_CUDA_HAS_SCALE_CONVERSION
    std::uint16_t pair;
    if (overflow == ScaleOverflow::to_largest)
        asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
    else
        asm("cvt.rp.ue8m0x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
    return static_cast<std::uint8_t>(pair);
#else
    const std::uint32_t bits = bits_of(value);
    if (bits > f32_infinity) return scale_nan;
    const std::uint32_t carry = bits < 0x00800000u ? 0x003FFFFFu : 0x007FFFFFu;
    const std::uint32_t largest = overflow == ScaleOverflow::to_largest ? 0xFEu : 0xFFu;
    const std::uint32_t field = (bits + carry) >> 23;
    return static_cast<std::uint8_t>(field < largest ? field : largest);
#endif
}

// `amax` is the bits of a float32 without its sign.
MX_CUDA_BOTH inline std::uint8_t scale_of(const ScaleRule& rule, std::uint32_t amax) {
    if (rule.exponent == Exponent::ratio)
        return e8m0_up(product(float_of(amax), rule.inverse_largest), rule.overflow);
    if (amax >= rule.poison_from) return scale_nan;
    const auto field = static_cast<std::int32_t>((amax + rule.carry) >> 23);
    const std::int32_t scale = field - rule.exponent_largest;
    return static_cast<std::uint8_t>(scale > 0 ? scale : 0);
}

// 2^(127 - scale), what elements are multiplied by: from bits, as the exponent field counts down
// while the scale counts up; but 2^-127 is subnormal, and 255 is NaN.
MX_CUDA_BOTH inline float factor_of(std::uint8_t scale) {
    std::uint32_t bits = (254u - scale) << 23;
    if (scale == 0xFE) bits = 0x00400000u;
    if (scale == scale_nan) bits = 0x7FFFFFFFu;
    return float_of(bits);
}

// 2^(scale - 127), what dequantizing multiplies by.
MX_CUDA_BOTH inline float value_of_scale(std::uint8_t scale) {
    std::uint32_t bits = static_cast<std::uint32_t>(scale) << 23;
    if (scale == 0) bits = 0x00400000u;
    if (scale == scale_nan) bits = 0x7FFFFFFFu;
    return float_of(bits);
}

}  // namespace mx::cuda
