// Where the search takes its chances from: a small generator, begun for each round from the seed,
// the worker and the round alone, so that a round can be repeated without those before it.
#pragma once

#include <cstdint>

#include "conformance/data/philox.hpp"

namespace mx::fuzz {

struct Round {
    std::uint64_t seed = 0;
    std::uint64_t worker = 0;
    std::uint64_t number = 0;
};

// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
public:
    explicit Random(const Round& round) {
        const PhiloxBlock begin = philox({round.seed, 0xF0220000 + round.worker, round.number});
        state_ = begin[0] | std::uint64_t{begin[1]} << 32;
    }

    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
        return mixed ^ (mixed >> 31);
    }
    std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
    // From 0 to limit - 1; limit is not 0.
    std::uint64_t below(std::uint64_t limit) { return (next() >> 32) * limit >> 32; }
    // True once in `count` times.
    bool once_in(std::uint64_t count) { return below(count) == 0; }

    template <typename List>
    const auto& one_of(const List& list) {
        return list[below(list.size())];
    }

private:
    std::uint64_t state_;
};

}  // namespace mx::fuzz
