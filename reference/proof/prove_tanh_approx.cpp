// fast/tanh_approx.hpp: every X of every piece; and, with every change, every X of two ones or two
// zeros at most, in every piece. What is summed are products of two bits of X, so that each term
// stands alone in one of these. That the numbers are a GPU's is for test/hardware_tanh_test.cpp.
#include <bit>

#include "reference/exact/tanh_approx.hpp"
#include "reference/fast/tanh_approx.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::uint32_t fractions = 1u << tanh_fraction_bits;
constexpr auto pieces = static_cast<std::uint32_t>(tanh_pieces.size());

struct Place {
    std::uint32_t piece;
    std::uint32_t x;
    std::uint32_t unread;  // 0 or 1: all bits that are not read
};

// The code of that number, without a sign.
std::uint32_t code_at(const Place& place) {
    const TanhBinade* binade = &tanh_binades.back();
    while (static_cast<std::uint32_t>(binade->first_piece) > place.piece) --binade;
    const int unread = 23 - tanh_fraction_bits - binade->index_bits;
    const std::uint32_t index = place.piece - static_cast<std::uint32_t>(binade->first_piece);
    const std::uint32_t mantissa =
        ((index << tanh_fraction_bits | place.x) << unread) | (((1u << unread) - 1) * place.unread);
    return static_cast<std::uint32_t>(binade->exponent + 127) << 23 | mantissa;
}

std::uint64_t by_exact(std::uint32_t bits) {
    return exact::tanh_approx(Code{bits}).bits;
}

std::uint64_t by_fast(std::uint32_t bits) {
    return fast::tanh_approx(Code{bits}).bits;
}

// Every fraction of every piece.
std::uint32_t code_of_any(std::uint32_t i) {
    return code_at({i / fractions, i % fractions, i % 2});
}

std::vector<std::uint32_t> codes_of_few() {
    std::vector<std::uint32_t> codes;
    for (std::uint32_t x = 0; x < fractions; ++x) {
        const int ones = std::popcount(x);
        if (ones > 2 && ones < tanh_fraction_bits - 2) continue;
        for (std::uint32_t piece = 0; piece < pieces; ++piece)
            for (const std::uint32_t unread : {0u, 1u})
                for (const std::uint32_t sign : {0u, 1u})
                    codes.push_back(sign << 31 | code_at({piece, x, unread}));
    }
    // Where nothing is computed, and the borders of that.
    for (std::uint32_t leading = 0; leading < 512; ++leading)
        for (const std::uint32_t mantissa : {0u, 1u, 0x555555u, 0x7FFFFFu})
            codes.push_back(leading << 23 | mantissa);
    return codes;
}

}  // namespace

std::vector<Proof> tanh_approx_proofs() {
    return {{"tanh.approx.f32 of few bits",
             "every X of two ones or two zeros at most in all 51 pieces, and 4 numbers of every "
             "binade",
             [](int threads) {
                 const std::vector<std::uint32_t> codes = codes_of_few();
                 return compare_everywhere(
                     static_cast<std::uint32_t>(codes.size()), threads,
                     [&](std::uint32_t i) { return by_exact(codes[i]); },
                     [&](std::uint32_t i) { return by_fast(codes[i]); });
             }},
            {"tanh.approx.f32", "every X of all 51 pieces",
             [](int threads) {
                 return compare_everywhere(
                     pieces * fractions, threads,
                     [](std::uint32_t i) { return by_exact(code_of_any(i)); },
                     [](std::uint32_t i) { return by_fast(code_of_any(i)); });
             },
             Effort::whole_set}};
}

}  // namespace mx::proof
