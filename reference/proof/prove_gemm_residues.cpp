// gemm/ by residues: the sums of factors whose scales are as far apart as all moduli hold, and of
// blocks that a step of K is and is not divided by.
#include "reference/gemm/moduli.hpp"
#include "reference/proof/gemm_problem.hpp"

namespace mx::proof {
namespace {

// Rows whose scales spread so far; the largest values of one sign, in turn of either sign, and
// blocks of zeros with scales far from all others.
Factor spread_factor(const ElementFormat& format, std::int64_t depth, int spread) {
    Factor factor = largest_factor(format, depth);
    factor.scales.clear();
    for (std::int64_t row = 0; row < 7; ++row)
        for (std::int64_t block = 0; block < factor.blocks(); ++block) {
            const bool is_zero = block % 5 == 3 && row % 2 == 1;
            const auto codes = factor.codes.begin() + row * depth + block * 32;
            if (is_zero) std::fill_n(codes, std::min<std::int64_t>(32, depth - block * 32), 0x80);
            const int scale =
                block % 3 == 0 ? 100
                : block % 3 == 1
                    ? 100 + spread
                    : 100 + static_cast<int>(mixed(9, block + row) % unsigned(spread + 1));
            factor.scales.push_back(static_cast<std::uint8_t>(is_zero ? row * 36 : scale));
        }
    return factor;
}

// How far the scales of both factors may spread together for their moduli to hold the sums.
int spread_held(const ElementFormat& a, const ElementFormat& b, std::int64_t depth) {
    const auto digits = [](const ElementFormat& format) {
        const fast::Unpacked largest = fast::unpack(format, Code{format.code_max_finite()});
        return largest.exponent - format.quantum_exponent_min() +
               fast::bit_width(largest.significand);
    };
    return gemm::sum_bits_max - digits(a) - digits(b) -
           fast::bit_width(static_cast<std::uint64_t>(depth - 1));
}

Proof residue_proof() {
    return {"gemm residues",
            "scales that spread as far as all moduli hold, less and more, K to 16417; codes apart",
            [](int threads) {
                static constexpr std::array<std::int64_t, 4> lengths{96, 1055, 2048, 16417};
                // Of both factors together; the last three are added to as far as is held.
                static constexpr std::array<int, 9> spreads{0, 3, 32, 77, 130, 181, -1, 0, 1};
                constexpr std::size_t far = 6;
                return compare_all(lengths.size() * spreads.size() * 4, threads, [](std::size_t i) {
                    const std::size_t which = i / 16;
                    const std::int64_t depth = lengths[i / 4 % 4];
                    const auto format = [](std::size_t bit) {
                        return bit % 2 == 0 ? formats::e4m3 : formats::e5m2;
                    };
                    const ElementFormat a = format(i), b = format(i / 2);
                    const int spread =
                        spreads[which] + (which < far ? 0 : spread_held(a, b, depth));
                    return Problem{spread_factor(a, depth, spread / 2),
                                   strided(spread_factor(b, depth, spread - spread / 2), 3)};
                });
            }};
}

// Segments of every length, of blocks that are and are not a step's divisors, and more rows than a
// square of outputs has.
Proof residue_block_proof() {
    return {
        "gemm residues blocks", "blocks of 0 to 128 whose scales are near, and 400 rows",
        [](int threads) {
            static constexpr std::array<std::int64_t, 9> blocks{0, 1, 8, 16, 24, 40, 64, 96, 128};
            constexpr std::size_t count = blocks.size() * elements.size();
            return compare_all(count + 2, threads, [](std::size_t i) {
                if (i >= count) {
                    const std::int64_t rows = i == count ? 400 : 3;
                    return Problem{mixed_factor(formats::e4m3, {rows, 70, 16}, i),
                                   mixed_factor(formats::e5m2, {403 - rows, 70, 16}, i + 1)};
                }
                const auto format = [](std::size_t which) {
                    return *find_element_format(elements[which % elements.size()]);
                };
                const auto block = [](std::size_t which) { return blocks[which % blocks.size()]; };
                return Problem{
                    mixed_factor(format(i), {35, 1000, 16, block(i / 6)}, i),
                    mixed_factor(format(i / 6), {3, 1000, 16, block(i / 6 * 5 + 2)}, i + 70)};
            });
        }};
}

}  // namespace

std::vector<Proof> gemm_residue_proofs() {
    return {residue_proof(), residue_block_proof()};
}

}  // namespace mx::proof
