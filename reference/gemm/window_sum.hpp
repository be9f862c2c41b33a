// An exact sum as a few integers in fixed places: what the tiles of a GEMM leave behind.
// Used by exact_gemm; held to the wide sum of reference/fast by reference/proof/prove_gemm.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/dot.hpp"
#include "reference/gemm/tile_kernel.hpp"

namespace mx::gemm {

// The sum of digits[i] * 2^(exponent + i * level_bits), `count` of them, each below 2^51 and of
// either sign.
struct WindowSum {
    int exponent = 0;
    int count = 0;
    std::int64_t digits[levels_max];
};

inline constexpr std::int64_t digit_limit = std::int64_t{1} << 51;

// The same sum with digits from 0 up to 2^level_bits, and what is left above them.
struct Carried {
    std::int64_t digits[levels_max + 1];
};

constexpr Carried carried(const WindowSum& sum, bool negated) {
    constexpr std::int64_t mask = (std::int64_t{1} << level_bits) - 1;
    Carried result;
    std::int64_t carry = 0;
    for (int i = 0; i < sum.count; ++i) {
        carry += negated ? -sum.digits[i] : sum.digits[i];
        result.digits[i] = carry & mask;
        carry >>= level_bits;
    }
    result.digits[sum.count] = carry;
    return result;
}

constexpr int bit_width_of(fast::Uint128 digits) {
    const auto high = static_cast<std::uint64_t>(digits >> 64);
    return high != 0 ? 64 + fast::bit_width(high)
                     : fast::bit_width(static_cast<std::uint64_t>(digits));
}

// A magnitude that is not 0, times 2^exponent: 60 bits of it are kept, and a lowest one says
// whether any below them, or `more`, is 1.
struct Magnitude {
    fast::Uint128 digits;
    int exponent;
    bool more;
};

constexpr fast::Unpacked leading_bits(const Magnitude& magnitude, bool negative) {
    const int width = bit_width_of(magnitude.digits);
    const int dropped = width > 60 ? width - 60 : 0;
    const auto kept = static_cast<std::uint64_t>(magnitude.digits >> dropped);
    const bool sticky = magnitude.more || (fast::Uint128{kept} << dropped) != magnitude.digits;
    return {fast::Kind::finite, negative, magnitude.exponent + dropped - 1,
            kept << 1 | (sticky ? 1 : 0)};
}

__extension__ using Int128 = __int128;

// Two digits are less than 2^93.
constexpr fast::Unpacked leading_bits_of_two(const WindowSum& sum) {
    const Int128 upper = sum.count < 2 ? 0 : sum.digits[1];
    const Int128 digits = upper * (std::int64_t{1} << level_bits) + sum.digits[0];
    if (digits == 0) return {};
    const bool negative = digits < 0;
    return leading_bits(
        {static_cast<fast::Uint128>(negative ? -digits : digits), sum.exponent, false}, negative);
}

// As fast::leading_bits: the sum itself, or so many of its leading bits that a lowest one may stand
// for the rest. The three digits from the highest that is not 0 have at least 83 bits.
//
//   0000 | 0000000xxxxx | xxxxxxxxxxxx | xxxxxxxxxxxx | ......
//          top            top - 1        top - 2        sticky
constexpr fast::Unpacked leading_bits(const WindowSum& sum) {
    if (sum.count == 0) return {};
    if (sum.count <= 2) return leading_bits_of_two(sum);
    Carried magnitude = carried(sum, false);
    const bool negative = magnitude.digits[sum.count] < 0;
    if (negative) magnitude = carried(sum, true);
    int top = sum.count;
    while (top > 0 && magnitude.digits[top] == 0) --top;
    if (magnitude.digits[top] == 0) return {};
    fast::Uint128 digits = 0;
    const int last = top < 2 ? 0 : top - 2;
    for (int i = top; i >= last; --i)
        digits = digits << level_bits | static_cast<std::uint64_t>(magnitude.digits[i]);
    bool more = false;
    for (int i = 0; i < last; ++i) more |= magnitude.digits[i] != 0;
    return leading_bits({digits, sum.exponent + last * level_bits, more}, negative);
}

constexpr void add_to(fast::WideSum& wide, const WindowSum& sum) {
    for (int i = 0; i < sum.count; ++i) {
        const std::int64_t digit = sum.digits[i];
        if (digit == 0) continue;
        const auto magnitude = static_cast<std::uint64_t>(digit < 0 ? -digit : digit);
        fast::add(wide, {digit < 0, sum.exponent + i * level_bits, magnitude});
    }
}

}  // namespace mx::gemm
