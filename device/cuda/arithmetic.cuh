// Single operations of binary32, each rounded to nearest even, for the GPU and, so that tests need
// none, for a host. Used by all arithmetic that both compile. On the GPU they are instructions that
// neither contraction nor --use_fast_math changes.
#pragma once

#include <bit>
#include <cstdint>

#include "device/cuda/types.hpp"

#if defined(__FAST_MATH__)
#error "the host's arithmetic must be that of IEEE 754"
#endif

namespace mx::cuda {

MX_CUDA_BOTH inline std::uint32_t bits_of(float x) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(x);
#else
    return std::bit_cast<std::uint32_t>(x);
#endif
}

MX_CUDA_BOTH inline float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

MX_CUDA_BOTH inline float product(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

MX_CUDA_BOTH inline float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

MX_CUDA_BOTH inline float sum(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

// a * b + c where a * b is exact, so that one rounding and two are the same.
MX_CUDA_BOTH inline float sum_with_exact_product(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

// The same as quotient(1, x), in fewer instructions.
MX_CUDA_BOTH inline float inverse(float x) {
#if defined(__CUDA_ARCH__)
    return __frcp_rn(x);
#else
    return 1.0f / x;
#endif
}

MX_CUDA_BOTH inline float magnitude(float x) {
#if defined(__CUDA_ARCH__)
    return fabsf(x);
#else
    return float_of(bits_of(x) & 0x7FFFFFFFu);
#endif
}
MX_CUDA_BOTH inline bool is_nan(float x) {
    return (bits_of(x) & 0x7FFFFFFFu) > f32_infinity;
}
MX_CUDA_BOTH inline bool is_infinite(float x) {
    return (bits_of(x) & 0x7FFFFFFFu) == f32_infinity;
}

// Of two numbers, none of them NaN.
MX_CUDA_BOTH inline float larger_number(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}

// A NaN stays one.
MX_CUDA_BOTH inline float at_least(float x, float least) {
    return x < least ? least : x;
}

// 2^exponent, of a normal float32.
MX_CUDA_BOTH inline float power_of_two(int exponent) {
    return float_of(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// To bfloat16, nearest even; beyond the largest, Inf. As a float32.
MX_CUDA_BOTH inline float rounded_to_bf16(float x) {
    if (is_nan(x)) return x;
    const std::uint32_t bits = bits_of(x);
    return float_of((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}

}  // namespace mx::cuda
