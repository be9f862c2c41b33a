// A whole number by its remainders: numbers of a byte that share no divisor, how many of them tell
// apart all sums of so many bits, and what puts a sum together again. Used by residue_gemm.cpp;
// held to the wide sum of reference/fast by reference/proof/prove_gemm_residues.cpp.
//
// M is the product of the moduli p, and x a sum of which 2 |x| is less than M / 2. Of x * (p / M
// mod p) the tiles leave r, up to a multiple of p and not reduced to the least one. Then
//
//   sum of r * (M / p)  =  x + M * wraps        sum of r / p  =  x / M + wraps
//
// and the second, to 40 places after the point, is within a quarter and a little of `wraps`.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "reference/gemm/tile_residues.hpp"
#include "reference/gemm/window_sum.hpp"

namespace mx::gemm {

// The largest that have no divisor in common, down to least_modulus.
constexpr std::array<int, moduli_max> find_moduli() {
    std::array<int, moduli_max> found{};
    int count = 0;
    for (int number = 256; count < moduli_max; --number) {
        bool is_coprime = true;
        for (int i = 0; i < count; ++i) is_coprime &= std::gcd(found[std::size_t(i)], number) == 1;
        if (is_coprime) found[static_cast<std::size_t>(count++)] = number;
    }
    return found;
}

inline constexpr std::array<int, moduli_max> moduli = find_moduli();
static_assert(moduli.back() >= least_modulus);

// Digits of level_bits bits, the lowest first.
using LongNumber = std::array<std::uint64_t, levels_max>;

// What does not fit is left out: sums are found up to a power of two that they are far below.
constexpr LongNumber times(const LongNumber& number, std::uint64_t factor, int levels) {
    LongNumber product{};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(levels); ++i) {
        carry += number[i] * factor;
        product[i] = carry & ((std::uint64_t{1} << level_bits) - 1);
        carry >>= level_bits;
    }
    return product;
}

constexpr int bit_width_of(const LongNumber& number) {
    int width = 0;
    for (int i = 0; i < levels_max; ++i)
        if (number[static_cast<std::size_t>(i)] != 0)
            width = i * level_bits + fast::bit_width(number[static_cast<std::size_t>(i)]);
    return width;
}

// The first n moduli have a product of at least 2^capacity[n].
constexpr std::array<int, moduli_max + 1> find_capacities() {
    std::array<int, moduli_max + 1> found{};
    LongNumber product{1};
    for (std::size_t i = 0; i < moduli_max; ++i) {
        product = times(product, static_cast<std::uint64_t>(moduli[i]), levels_max);
        found[i + 1] = bit_width_of(product) - 1;
    }
    return found;
}

inline constexpr std::array<int, moduli_max + 1> capacities = find_capacities();

// The bits of sums that all moduli together hold: two less, for M is more than 4 |x|.
inline constexpr int sum_bits_max = capacities.back() - 2;

// The first so many hold sums below 2^bits.
constexpr int moduli_for(int bits) {
    MX_ASSERT_COMPARE(bits, <=, sum_bits_max);
    int count = 1;
    while (capacities[static_cast<std::size_t>(count)] < bits + 2) ++count;
    return count;
}

// The digits that hold sums below 2^bits and their sign.
constexpr int levels_for(int bits) {
    return (bits + level_bits) / level_bits;
}
static_assert(levels_for(sum_bits_max) <= residue_levels_max);
static_assert(residue_levels_max <= levels_max);

// The moduli for sums below 2^bits, of either sign.
class Moduli {
public:
    explicit Moduli(int bits);

    int count() const { return count_; }
    int levels() const { return levels_; }
    // p / M mod p, by which one factor of a product is multiplied.
    int inverse(int index) const { return inverses_[static_cast<std::size_t>(index)]; }
    const ResidueWeight* weights() const { return weights_.data(); }
    const LongNumber& product() const { return product_; }

private:
    int count_;
    int levels_;
    LongNumber product_{1};
    std::vector<int> inverses_;
    std::vector<ResidueWeight> weights_;
};

}  // namespace mx::gemm
