// What a sum rounds to where it is known but for a doubt: most often that is settled.
// Used by settled_gemm.cpp, leading_blocks.cpp and rounded_gemm.cpp; proved by
// reference/proof/prove_gemm_settled.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "reference/gemm/window_sum.hpp"

namespace mx::gemm {

// The significand of binary32 and the bit below it, which says what is half way between two.
inline constexpr int settled_bits = 25;

// A number that rounds as the true sum does, in every rounding but the stochastic, to binary32 and
// every type with fewer bits, where all sums that are nearer to this one than 2^doubt units of its
// lowest digit do so alike; nothing where some do not, or 2^doubt of them may be 0. In units of
// 2^doubt the true sum lies between q - 1 and q + 2:
//
//   q = sum / 2^doubt    xxxxxxxxxxxxxxx yyyyyyyyy    rounded down
//                        settled_bits    0 < y and y + 2 <= 2^rest: the x are those of the sum,
//                                        and bits that are not 0 follow
constexpr std::optional<fast::Unpacked> settled_value(const WindowSum& sum, int doubt) {
    Carried magnitude = carried(sum, false);
    const bool negative = magnitude.digits[sum.count] < 0;
    if (negative) magnitude = carried(sum, true);
    const int last = doubt / level_bits, below = doubt % level_bits;
    fast::Uint128 q = 0;
    for (int i = sum.count; i > last; --i)
        q = q << level_bits | static_cast<std::uint64_t>(magnitude.digits[i]);
    if (last <= sum.count)
        q = q << (level_bits - below) | static_cast<std::uint64_t>(magnitude.digits[last] >> below);
    if (q == 0) return std::nullopt;
    const int rest = bit_width_of(q) - settled_bits;
    if (rest < 2) return std::nullopt;
    const fast::Uint128 all = fast::Uint128{1} << rest, y = q & (all - 1);
    if (y == 0 || y + 2 > all) return std::nullopt;
    return fast::Unpacked{fast::Kind::finite, negative, sum.exponent + doubt + rest - 1,
                          static_cast<std::uint64_t>(q >> rest) << 1 | 1};
}

// The same of a double, far from the ends of its range, where the true sum is no further away than
// `doubt`, a rounding of `sum` itself less: the ends that are found here are rounded, too.
//
//   least   xxxxxxxxxxxxxxx yyyyyyyyy    settled_bits, and 28 bits that are not all 0
//   most    xxxxxxxxxxxxxxx zzzzzzzzz    the same settled_bits, and the same exponent
constexpr std::optional<fast::Unpacked> settled_value(double sum, double doubt) {
    constexpr int mantissa_bits = 52, rest = mantissa_bits + 1 - settled_bits;
    const double magnitude = sum < 0 ? -sum : sum;
    const double least = magnitude - doubt, most = magnitude + doubt;
    if (!(least > 0)) return std::nullopt;
    const auto low = std::bit_cast<std::uint64_t>(least), high = std::bit_cast<std::uint64_t>(most);
    const std::uint64_t y = low & ((std::uint64_t{1} << rest) - 1);
    if (low >> rest != high >> rest || y == 0) return std::nullopt;
    const std::uint64_t mantissa = low & ((std::uint64_t{1} << mantissa_bits) - 1);
    const std::uint64_t leading = (std::uint64_t{1} << mantissa_bits | mantissa) >> rest;
    const int exponent = static_cast<int>(low >> mantissa_bits) - 1023 - mantissa_bits;
    return fast::Unpacked{fast::Kind::finite, sum < 0, exponent + rest - 1, leading << 1 | 1};
}

// A double that is the sum itself, 0 or far from the ends of its range.
constexpr fast::Unpacked exact_value(double sum) {
    constexpr int mantissa_bits = 52;
    if (sum == 0) return {};
    const auto bits = std::bit_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const std::uint64_t one = std::uint64_t{1} << mantissa_bits;
    return {fast::Kind::finite, sum < 0,
            static_cast<int>(bits >> mantissa_bits) - 1023 - mantissa_bits,
            one | (bits & (one - 1))};
}

}  // namespace mx::gemm
