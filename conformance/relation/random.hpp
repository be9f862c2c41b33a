// Where relations take their chances from: a stream of random bits for each seed.
#pragma once

#include <cstdint>

#include "conformance/data/philox.hpp"

namespace mx::relation {

class Random {
public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}

    std::uint32_t bits() {
        constexpr std::uint64_t stream = 0x3E1A7E;
        return philox({seed_, stream, next_++})[0];
    }
    // The lowest `count` bits of a word, at most 32.
    std::uint32_t low_bits(int count) { return bits() & (~std::uint32_t{0} >> (32 - count)); }
    // From 0 to limit - 1; limit is not 0.
    std::uint64_t below(std::uint64_t limit) { return std::uint64_t{bits()} * limit >> 32; }
    bool once_in(std::uint64_t count) { return below(count) == 0; }

private:
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
};

}  // namespace mx::relation
