// tanh.approx.f32 of an NVIDIA GPU in integers: spec/tanh_approx.hpp says what it computes.
// Proved by reference/proof/prove_tanh_approx.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/round.hpp"
#include "reference/spec/tanh_approx.hpp"

namespace mx::fast {

// A GPU cannot index a table of the host; a copy of it is a constant of the function.
MX_HOST_DEVICE constexpr TanhBinade tanh_binade(int index) {
    constexpr auto binades = tanh_binades;
    return binades[static_cast<std::size_t>(index)];
}
MX_HOST_DEVICE constexpr TanhPiece tanh_piece(std::uint64_t index) {
    constexpr auto pieces = tanh_pieces;
    return pieces[static_cast<std::size_t>(index)];
}

// x * x / 2^19 without the products of bits below 2^19. Bit i meets itself and, twice, all bits
// below it, which makes a row of the multiplier, whose top two bits are of one weight:
//
//   below << (i + 1)    x..x 0..0     from 2^(2 * i) down
//   1 << (2 * i)        1    0..0
//
// Rows are cut one by one, before they are added. Those of a low i lie below the cut.
MX_HOST_DEVICE constexpr std::int64_t cut_square(std::uint64_t x) {
    std::uint64_t square = 0;
    for (int i = (tanh_square_cut + 1) / 2; i < tanh_fraction_bits; ++i) {
        if ((x >> i & 1) == 0) continue;
        const std::uint64_t below = x & ((std::uint64_t{1} << i) - 1);
        const std::uint64_t row = (below << (i + 1)) + (std::uint64_t{1} << (2 * i));
        square += row >> tanh_square_cut;
    }
    return static_cast<std::int64_t>(square);
}

// Of a magnitude from 2^-8 to 8, by its 24 bits: in units of 2^(unit_exponent - 17), exact.
MX_HOST_DEVICE constexpr std::uint64_t tanh_units(const TanhBinade& binade,
                                                  std::uint64_t significand) {
    const std::uint64_t mantissa = significand & 0x7FFFFF;
    const auto first = static_cast<std::uint64_t>(binade.first_piece);
    const TanhPiece piece = tanh_piece(first + (mantissa >> (23 - binade.index_bits)));
    const int unread = 23 - tanh_fraction_bits - binade.index_bits;
    const std::uint64_t x = mantissa >> unread & ((1 << tanh_fraction_bits) - 1);
    constexpr std::int64_t one = 1 << tanh_fraction_bits, one_of_square = 1 << 15;
    return static_cast<std::uint64_t>(piece.constant * one +
                                      piece.linear * static_cast<std::int64_t>(x) +
                                      piece.square * (one / one_of_square) * cut_square(x));
}

// Of a number of binary32, and one itself.
MX_HOST_DEVICE constexpr Unpacked tanh_approx(const Unpacked& x) {
    if (x.kind == Kind::nan) return {Kind::nan, false, 0, 0};
    const Unpacked one{Kind::finite, x.negative, 0, 1};
    if (x.kind == Kind::infinity) return one;
    if (x.significand == 0) return x;
    const int width = bit_width(x.significand);
    const int exponent = x.exponent + width - 1;
    const int lowest = tanh_binade(0).exponent;
    if (exponent < lowest) return x;
    if (exponent >= lowest + static_cast<int>(tanh_binades.size())) return one;
    const TanhBinade binade = tanh_binade(exponent - lowest);
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked exact{Kind::finite, x.negative, binade.unit_exponent - tanh_fraction_bits,
                         tanh_units(binade, x.significand << (24 - width))};
    return unpack(f32, round(f32, Rounding::toward_zero, Overflow::saturate, exact));
}

// From code to code, as the instruction.
MX_HOST_DEVICE constexpr Code tanh_approx(Code code) {
    constexpr ElementFormat f32 = formats::f32;
    return round(f32, Rounding::nearest_even, Overflow::overflow, tanh_approx(unpack(f32, code)));
}

}  // namespace mx::fast
