// Integer helpers of the fast oracle: constexpr, header-only, host and device.
// Proved by reference/proof/prove_decode.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "reference/spec/assert.hpp"

namespace mx::fast {

// Number of bits up to the highest set one, of a value that is not 0.
MX_FOLDED constexpr int bit_width(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    if (std::is_constant_evaluated()) return std::bit_width(value);
    return 64 - __clzll(static_cast<long long>(value));
#else
    return 64 - __builtin_clzll(value);
#endif
}

}  // namespace mx::fast
