// Philox4x32-10, a counter-based random generator (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC11). The same key and counter give the same bits everywhere, so
// a block of a case can be made without the blocks before it.
#pragma once

#include <array>
#include <cstdint>

namespace mx {

using PhiloxBlock = std::array<std::uint32_t, 4>;

struct PhiloxCounter {
    std::uint64_t key;   // the seed
    std::uint64_t high;  // which stream
    std::uint64_t low;   // position in the stream
};

constexpr PhiloxBlock philox(const PhiloxCounter& counter) {
    PhiloxBlock x{
        static_cast<std::uint32_t>(counter.low), static_cast<std::uint32_t>(counter.low >> 32),
        static_cast<std::uint32_t>(counter.high), static_cast<std::uint32_t>(counter.high >> 32)};
    std::uint32_t key0 = static_cast<std::uint32_t>(counter.key);
    std::uint32_t key1 = static_cast<std::uint32_t>(counter.key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * x[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * x[2];
        x = {static_cast<std::uint32_t>(product1 >> 32) ^ x[1] ^ key0,
             static_cast<std::uint32_t>(product1),
             static_cast<std::uint32_t>(product0 >> 32) ^ x[3] ^ key1,
             static_cast<std::uint32_t>(product0)};
        key0 += 0x9E3779B9;  // golden ratio
        key1 += 0xBB67AE85;  // sqrt(3) - 1
    }
    return x;
}

// Known answers published with the algorithm: all-zero and all-one counter and key.
static_assert(philox({0, 0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({~0ull, ~0ull, ~0ull}) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});

}  // namespace mx
