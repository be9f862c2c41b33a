// Integer helpers of the fast oracle: constexpr, header-only, host and device.
// Proved by reference/proof/prove_decode.cpp.
#pragma once

#include <cstdint>

#include "reference/spec/assert.hpp"

namespace mx::fast {

// Number of bits up to the highest set one, of a value that is not 0.
MX_FOLDED constexpr int bit_width(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    return 64 - __clzll(static_cast<long long>(value));
#else
    return 64 - __builtin_clzll(value);
#endif
}

// A significand without its low bits, and what they were worth: `remainder` counts 2^-64ths of the
// lowest kept bit, so half a bit is 2^63.
struct Kept {
    std::uint64_t significand;
    std::uint64_t remainder;
};

inline constexpr std::uint64_t remainder_half = std::uint64_t{1} << 63;

// Significands stay below 2^62: any shift of 63 or more then keeps nothing and leaves less than a
// half, so one shift of 63 stands for all of them.
inline constexpr int significand_bits_max = 62;

// Drops the low `shift` bits, any shift >= 0.
//
//   significand  0..0 kkkkkk dddddd        k kept, d the `shift` dropped bits
//   remainder                dddddd0..0    moved up to the top of 64 bits
MX_FOLDED constexpr Kept drop_low_bits(std::uint64_t significand, int shift) {
    const int bounded = shift < 63 ? shift : 63;
    return {significand >> bounded, (significand << 1) << (63 - bounded)};
}

}  // namespace mx::fast
