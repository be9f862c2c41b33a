// A sum of numbers as wide as any GEMM needs, exact: no product of binary32 elements with binary32
// scales and alpha lies below its last bit, and 2^31 of the largest do not reach its first.
// Proved by reference/proof/prove_dot.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/decode.hpp"

namespace mx::fast {

__extension__ using Uint128 = unsigned __int128;

// Two's complement, the lowest limb first; bit 0 is 2^exponent_min.
struct WideSum {
    static constexpr int limb_count = 24;
    // Five factors of binary32: two elements, two scales, alpha. One limb is spare, so that the
    // limbs of a sum of products of four have a place for each of theirs times alpha.
    static constexpr int exponent_min = 5 * formats::f32.quantum_exponent_min() - 64;
    std::uint64_t limbs[limb_count] = {};
};
static_assert(WideSum::limb_count * 64 + WideSum::exponent_min >
              5 * (formats::f32.exponent_max() + 1) + 31 + 1);

// What is added, and where: significand * 2^exponent.
struct WideTerm {
    bool negative;
    int exponent;
    Uint128 significand;
};

// A significand shifted by less than 64 covers three limbs. Subtracting is adding the complement
// of every limb and a carry of 1.
//
//   significand       hhhhhhhh llllllll
//   shifted      000hh hhhhhhll llllll00
MX_HOST_DEVICE constexpr void add(WideSum& sum, const WideTerm& term) {
    const int bit = term.exponent - WideSum::exponent_min;
    const int first = bit / 64, shift = bit % 64;
    const auto low = static_cast<std::uint64_t>(term.significand);
    const auto high = static_cast<std::uint64_t>(term.significand >> 64);
    const std::uint64_t spill = shift == 0 ? 0 : low >> (64 - shift);
    const std::uint64_t parts[3] = {low << shift, high << shift | spill,
                                    shift == 0 ? 0 : high >> (64 - shift)};
    const std::uint64_t flip = term.negative ? ~std::uint64_t{0} : 0;
    Uint128 carry = term.negative ? 1 : 0;
    for (int i = 0; first + i < WideSum::limb_count; ++i) {
        // Above the term nothing changes once the carry is what subtracting began with.
        if (i >= 3 && carry == (flip & 1)) return;
        const std::uint64_t part = (i < 3 ? parts[i] : 0) ^ flip;
        const Uint128 total = carry + sum.limbs[first + i] + part;
        sum.limbs[first + i] = static_cast<std::uint64_t>(total);
        carry = total >> 64;
    }
}

MX_HOST_DEVICE constexpr bool is_negative(const WideSum& sum) {
    return sum.limbs[WideSum::limb_count - 1] >> 63 != 0;
}

MX_HOST_DEVICE constexpr WideSum magnitude_of(const WideSum& sum) {
    WideSum result;
    const bool negative = is_negative(sum);
    Uint128 carry = negative ? 1 : 0;
    for (int i = 0; i < WideSum::limb_count; ++i) {
        const Uint128 total = carry + (negative ? ~sum.limbs[i] : sum.limbs[i]);
        result.limbs[i] = static_cast<std::uint64_t>(total);
        carry = total >> 64;
    }
    return result;
}

// The leading 61 bits and a lowest one that says whether any below them is 1: enough for every
// rounding but the stochastic.
MX_HOST_DEVICE constexpr Unpacked leading_bits(const WideSum& sum) {
    const WideSum magnitude = magnitude_of(sum);
    int top = WideSum::limb_count - 1;
    while (top > 0 && magnitude.limbs[top] == 0) --top;
    if (magnitude.limbs[top] == 0) return {};
    const std::uint64_t below = top == 0 ? 0 : magnitude.limbs[top - 1];
    const int shift = 64 - bit_width(magnitude.limbs[top]);
    const std::uint64_t leading =
        magnitude.limbs[top] << shift | (shift == 0 ? 0 : below >> (64 - shift));
    bool sticky = (leading & 7) != 0 || (shift == 0 ? below : below << shift) != 0;
    for (int i = 0; i < top - 1; ++i) sticky |= magnitude.limbs[i] != 0;
    const int exponent = WideSum::exponent_min + 64 * top - shift;
    return {Kind::finite, is_negative(sum), exponent + 2, leading >> 3 << 1 | (sticky ? 1 : 0)};
}

}  // namespace mx::fast
