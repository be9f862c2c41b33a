// The 16-point random Hadamard transform: signed sums of 16 bfloat16 values, exact, times 1/4,
// rounded once to bfloat16.
// Proved by reference/proof/prove_real_scale_block.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/f32_arithmetic.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::fast {

// A sum of bfloat16 values, exact: a two's complement number in units of 2^-133, the smallest
// bfloat16. The largest is below 2^128, 261 bits up; sixteen of them and a sign need 266 bits.
struct LaneSum {
    std::uint64_t words[5] = {};
};

// Adds or subtracts significand * 2^shift; the significand is below 2^24.
MX_HOST_DEVICE constexpr void accumulate(LaneSum& sum, const Unpacked& value, int shift) {
    const int word = shift / 64, bit = shift % 64;
    const std::uint64_t low = value.significand << bit;
    const std::uint64_t high = bit == 0 ? 0 : value.significand >> (64 - bit);
    const std::uint64_t flip = value.negative ? ~std::uint64_t{0} : 0;
    std::uint64_t carry = value.negative ? 1 : 0;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t part = (i == word ? low : i == word + 1 ? high : 0) ^ flip;
        const std::uint64_t partial = sum.words[i] + part;
        const std::uint64_t total = partial + carry;
        carry = (partial < part ? 1 : 0) | (total < partial ? 1 : 0);
        sum.words[i] = total;
    }
}

MX_HOST_DEVICE constexpr void negate(LaneSum& sum) {
    std::uint64_t carry = 1;
    for (std::uint64_t& word : sum.words) {
        word = ~word + carry;
        carry = carry != 0 && word == 0 ? 1 : 0;
    }
}

// The sum as a significand of at most 62 bits, the lowest of which stands for all that follow.
MX_HOST_DEVICE constexpr Unpacked unpack(LaneSum sum, int exponent) {
    const bool negative = sum.words[4] >> 63 != 0;
    if (negative) negate(sum);
    int top = 4;
    while (top > 0 && sum.words[top] == 0) --top;
    if (sum.words[top] == 0) return {Kind::finite, false, 0, 0};
    const int width = bit_width(sum.words[top]);
    const std::uint64_t next = top > 0 ? sum.words[top - 1] : 0;
    bool has_more = false;
    for (int word = 0; word < top - 1; ++word) has_more = has_more || sum.words[word] != 0;
    // 64 bits from the leading one on, then 61 of them and a sticky bit.
    const std::uint64_t leading =
        width == 64 ? sum.words[top] : sum.words[top] << (64 - width) | next >> width;
    has_more = has_more || (leading & 7) != 0 || (width != 64 && next << (64 - width) != 0) ||
               (width == 64 && next != 0);
    return {Kind::finite, negative, exponent + top * 64 + width - 64 + 2,
            (leading >> 3) * 2 + (has_more ? 1 : 0)};
}

// Output `to` of the transform of 16 lanes of bfloat16.
MX_HOST_DEVICE constexpr Unpacked rotated_lane(const Unpacked* lanes, int to) {
    constexpr ElementFormat bf16 = formats::bf16;
    LaneSum total;
    bool has_nan = false, has_positive = false, has_negative = false;
    for (int from = 0; from < hadamard_size; ++from) {
        Unpacked lane = lanes[from];
        lane.negative = hadamard_subtracts(from, to) != lane.negative;
        has_nan = has_nan || lane.kind == Kind::nan;
        has_negative = has_negative || (lane.kind == Kind::infinity && lane.negative);
        has_positive = has_positive || (lane.kind == Kind::infinity && !lane.negative);
        if (lane.kind == Kind::finite && lane.significand != 0)
            accumulate(total, lane, lane.exponent - bf16.quantum_exponent_min());
    }
    if (has_nan || (has_positive && has_negative)) return {Kind::nan, false, 0, 0};
    if (has_positive || has_negative) return {Kind::infinity, has_negative, 0, 0};
    return rounded_in(bf16, unpack(total, bf16.quantum_exponent_min() - 2));
}

}  // namespace mx::fast
