// The 16-point Hadamard transform that TransformerEngine's NVFP4 has before quantizing: signs are
// changed, the sums are exact, and a quarter of each is rounded once to bfloat16. On the GPU and on
// a host.
#pragma once

#include <cstdint>

#include "device/cuda/arithmetic.cuh"
#include "device/cuda/real_scale.hpp"

namespace mx::cuda {

// An integer in two's complement that counts units of 2^-135, a quarter of the smallest bfloat16. A
// quarter of a value of bfloat16 has its bits between 2^0 and 2^260 of them, 16 of those need 4
// bits more, and one is for the sign.
struct WideSum {
    static constexpr int words = 9;
    std::uint32_t word[words];
};

// Adds 2^shift times `part`, which is below 2^8, or takes it away.
MX_CUDA_BOTH inline void add(WideSum& sum, std::uint32_t part, int shift, bool is_negative) {
    const std::uint64_t bits = static_cast<std::uint64_t>(part) << (shift % 32);
    std::uint64_t carry = is_negative ? 1 : 0;
    for (int i = 0; i < WideSum::words; ++i) {
        const int place = i - shift / 32;
        const std::uint32_t here = place == 0   ? static_cast<std::uint32_t>(bits)
                                   : place == 1 ? static_cast<std::uint32_t>(bits >> 32)
                                                : 0u;
        carry += static_cast<std::uint64_t>(sum.word[i]) + (is_negative ? ~here : here);
        sum.word[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
}

MX_CUDA_BOTH inline bool bit_at(const WideSum& sum, int place) {
    return (sum.word[place / 32] >> (place % 32) & 1u) != 0;
}

// To nearest even; beyond the largest, Inf. A sum that is 0 is +0.
MX_CUDA_BOTH inline float rounded_to_bf16(WideSum sum) {
    const bool is_negative = sum.word[WideSum::words - 1] >> 31 != 0;
    if (is_negative) {
        WideSum opposite{};
        std::uint64_t carry = 1;
        for (int i = 0; i < WideSum::words; ++i) {
            carry += static_cast<std::uint32_t>(~sum.word[i]);
            opposite.word[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        sum = opposite;
    }
    int top = WideSum::words * 32 - 1;
    while (top > 0 && !bit_at(sum, top)) --top;
    // The lowest bit that is kept: of 8, or of 2^-133, which is 2^2 units.
    const int lowest = top > 9 ? top - 7 : 2;
    std::uint32_t kept = 0;
    for (int i = 7; i >= 0; --i) kept = kept << 1 | (bit_at(sum, lowest + i) ? 1u : 0u);
    bool is_more = false;  // than the bit below it
    for (int i = 0; i < lowest - 1; ++i) is_more = is_more || bit_at(sum, i);
    if (bit_at(sum, lowest - 1) && (is_more || (kept & 1u) != 0)) ++kept;
    // A significand without its highest bit is subnormal and has the field 0 by itself.
    std::uint32_t code = (static_cast<std::uint32_t>(lowest - 2) << 7) + kept;
    if (code > 0x7F80u) code = 0x7F80u;
    return float_of((code | (is_negative ? 0x8000u : 0u)) << 16);
}

// The sum of 16 values of bfloat16, those at the bits of `minus` taken away, by 4.
MX_CUDA_BOTH inline float quarter_of_sum(const float (&values)[rotation_lanes],
                                         std::uint32_t minus) {
    WideSum sum{};
    bool has_nan = false, has_plus = false, has_minus = false;
    for (int i = 0; i < rotation_lanes; ++i) {
        const std::uint32_t bits = bits_of(values[i]) >> 16;
        const bool is_negative = (bits >> 15 ^ (minus >> i & 1u)) != 0;
        const std::uint32_t field = bits >> 7 & 0xFFu, fraction = bits & 0x7Fu;
        if (field == 0xFF) {
            has_nan = has_nan || fraction != 0;
            (is_negative ? has_minus : has_plus) = true;
        } else if (field == 0) {
            add(sum, fraction, 0, is_negative);
        } else {
            add(sum, fraction | 0x80u, static_cast<int>(field) - 1, is_negative);
        }
    }
    if (has_nan || (has_plus && has_minus)) return float_of(0x7FC00000u);
    if (has_plus || has_minus) return float_of(has_minus ? 0xFF800000u : f32_infinity);
    return rounded_to_bf16(sum);
}

MX_CUDA_BOTH inline int parity(std::uint32_t bits) {
    bits ^= bits >> 2;
    bits ^= bits >> 1;
    return static_cast<int>(bits & 1u);
}

// Changes the lanes in place.
MX_CUDA_BOTH inline void rotate(float (&lanes)[rotation_lanes]) {
    // Lanes whose sign changes: + + + - + - - - - - - + - + - -.
    constexpr std::uint32_t negated = 0xD7E8u;
    float result[rotation_lanes];
    for (std::uint32_t to = 0; to < rotation_lanes; ++to) {
        std::uint32_t minus = negated;
        for (std::uint32_t from = 0; from < rotation_lanes; ++from)
            minus ^= static_cast<std::uint32_t>(parity(from & to)) << from;
        result[to] = quarter_of_sum(lanes, minus);
    }
    for (int i = 0; i < rotation_lanes; ++i) lanes[i] = result[i];
}

}  // namespace mx::cuda
