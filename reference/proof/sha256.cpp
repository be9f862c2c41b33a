// See sha256.hpp. The round constants are the first 32 bits of the fractional parts of the cube
// roots of the first 64 primes; they are computed here in integers rather than typed.
#include "reference/proof/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace mx {
namespace {

using Words8 = std::array<std::uint32_t, 8>;

constexpr bool is_prime(std::uint32_t number) {
    for (std::uint32_t divisor = 2; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) return false;
    return true;
}

// floor(root(prime) * 2^32) mod 2^32, by bisection on root^degree <= prime * 2^(32 * degree).
constexpr std::uint32_t root_fraction(std::uint32_t prime, int degree) {
    __extension__ typedef unsigned __int128 Wide;
    std::uint64_t low = 0, high = std::uint64_t{1} << 37;  // root < 32
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        // Square and cube are compared with the low 32 or 64 bits still in place, which fits 128.
        const Wide square = static_cast<Wide>(middle) * middle;
        const bool fits = degree == 2 ? square <= (static_cast<Wide>(prime) << 64)
                                      : square * middle <= (static_cast<Wide>(prime) << 96);
        (fits ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(low);
}

template <int Count>
constexpr std::array<std::uint32_t, Count> root_fractions(int degree) {
    std::array<std::uint32_t, Count> fractions{};
    std::uint32_t prime = 2;
    for (auto& fraction : fractions) {
        while (!is_prime(prime)) ++prime;
        fraction = root_fraction(prime++, degree);
    }
    return fractions;
}

constexpr auto round_constants = root_fractions<64>(3);
constexpr auto initial_state = root_fractions<8>(2);
static_assert(round_constants[0] == 0x428a2f98 && round_constants[63] == 0xc67178f2);
static_assert(initial_state[0] == 0x6a09e667 && initial_state[7] == 0x5be0cd19);

void compress(Words8& state, const std::uint8_t* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = static_cast<std::uint32_t>(block[4 * i] << 24 | block[4 * i + 1] << 16 |
                                          block[4 * i + 2] << 8 | block[4 * i + 3]);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const Words8 step{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += step[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
    // Whole blocks where they lie: a file may be as large as half of the memory.
    Words8 state = initial_state;
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::size_t whole = bytes.size() / 64 * 64;
    for (std::size_t offset = 0; offset < whole; offset += 64) compress(state, data + offset);
    std::vector<std::uint8_t> padded(data + whole, data + bytes.size());
    padded.push_back(0x80);
    while (padded.size() % 64 != 56) padded.push_back(0);
    const std::uint64_t bit_count = bytes.size() * 8;
    for (int shift = 56; shift >= 0; shift -= 8)
        padded.push_back(static_cast<std::uint8_t>(bit_count >> shift));
    for (std::size_t offset = 0; offset < padded.size(); offset += 64)
        compress(state, padded.data() + offset);
    std::string text;
    for (const std::uint32_t word : state)
        for (int shift = 28; shift >= 0; shift -= 4)
            text += "0123456789abcdef"[(word >> shift) & 15];
    return text;
}

}  // namespace mx
