// The numbers in PTX tanh.approx.f32 of an NVIDIA GPU. No document gives them: they were found from
// the answers of an H200 to all 2^32 inputs, and give every one of them
// (conformance/vectors/nvidia_h200_tanh.digests). Other GPUs: unverified.
//
// Below 2^-8 a number is its own result, from 8 on the result is 1. In between, the leading bits of
// the mantissa choose a piece, a quadratic in the 17 bits after them, and the bits left are not
// read.
//
//   mantissa  p..p xxxxxxxxxxxxxxxxx d..d     p index_bits, x the 17 of X, d 6 - index_bits
//
//   unit * (constant + linear * X / 2^17 + square * S / 2^15), cut to 24 bits
//
// S is X * X / 2^19 of a multiplier that lacks its right half. The bits of X times the bits of X
// are ones of weight 2^(i + j); unlike i and j, which come twice, are one of 2^(i + j + 1). Those
// below 2^19 are not there. Results are not monotone where pieces meet, nor where S is short of
// much.
#pragma once

#include <array>
#include <cstdint>

namespace mx {

struct TanhPiece {
    std::int32_t constant, linear, square;
};

// The numbers from 2^exponent to twice that.
struct TanhBinade {
    int exponent;
    int index_bits;
    int unit_exponent;
    int first_piece;
};

inline constexpr int tanh_fraction_bits = 17;  // of X
inline constexpr int tanh_square_cut = 19;     // the least weight in S

inline constexpr std::array tanh_binades{
    TanhBinade{-8, 0, -31, 0},  TanhBinade{-7, 0, -30, 1},  TanhBinade{-6, 0, -29, 2},
    TanhBinade{-5, 1, -28, 3},  TanhBinade{-4, 1, -27, 5},  TanhBinade{-3, 2, -26, 7},
    TanhBinade{-2, 2, -25, 11}, TanhBinade{-1, 2, -24, 15}, TanhBinade{0, 3, -24, 19},
    TanhBinade{1, 4, -24, 27},  TanhBinade{2, 3, -24, 43},
};

inline constexpr std::array tanh_pieces{
    // from 2^-8
    TanhPiece{8388608, 8388608, -256},
    // from 2^-7
    TanhPiece{8388480, 8388096, -768},
    // from 2^-6
    TanhPiece{8387968, 8387072, -3328},
    // from 2^-5
    TanhPiece{8385888, 4190464, -2624},
    TanhPiece{12573728, 4185216, -3520},
    // from 2^-4
    TanhPiece{8377696, 4178688, -10176},
    TanhPiece{12546144, 4158464, -14208},
    // from 2^-3
    TanhPiece{8345192, 2065024, -8944},
    TanhPiece{10401240, 2047104, -10816},
    TanhPiece{12437488, 2025472, -12640},
    TanhPiece{14450304, 2000192, -14256},
    // from 2^-2
    TanhPiece{8218080, 1972352, -33104},
    TanhPiece{10157208, 1905920, -38592},
    TanhPiece{12024448, 1828576, -42976},
    TanhPiece{13809984, 1742432, -46304},
    // from 2^-1
    TanhPiece{7753000, 1650272, -98592},
    TanhPiece{9304656, 1451968, -100608},
    TanhPiece{10656104, 1250016, -96608},
    TanhPiece{11809672, 1056352, -88688},
    // from 1
    TanhPiece{12777544, 878752, -78584},
    TanhPiece{13577912, 721632, -67824},
    TanhPiece{14231944, 586144, -57152},
    TanhPiece{14761140, 472016, -47384},
    TanhPiece{15185952, 377440, -38736},
    TanhPiece{15524804, 300160, -31376},
    TanhPiece{15793720, 237600, -25152},
    TanhPiece{16006268, 187456, -20072},
    // from 2^1
    TanhPiece{16173728, 147496, -15946},
    TanhPiece{16305345, 115768, -12590},
    TanhPiece{16408581, 90696, -9898},
    TanhPiece{16489421, 70984, -7784},
    TanhPiece{16552657, 55480, -6094},
    TanhPiece{16602069, 43340, -4776},
    TanhPiece{16640655, 33828, -3734},
    TanhPiece{16670765, 26396, -2920},
    TanhPiece{16694254, 20584, -2278},
    TanhPiece{16712570, 16048, -1778},
    TanhPiece{16726848, 12508, -1386},
    TanhPiece{16737977, 9748, -1082},
    TanhPiece{16746648, 7596, -842},
    TanhPiece{16753405, 5916, -654},
    TanhPiece{16758669, 4608, -508},
    TanhPiece{16762770, 3588, -394},
    // from 4
    TanhPiece{16766000, 10544, -3504},
    TanhPiece{16773088, 3888, -1296},
    TanhPiece{16775696, 1424, -464},
    TanhPiece{16776656, 528, -176},
    TanhPiece{16777012, 192, -64},
    TanhPiece{16777140, 80, -32},
    TanhPiece{16777188, 32, -16},
    TanhPiece{16777204, 16, -8},
};

// The pieces of one binade follow those of the one before.
static_assert([] {
    int next = 0;
    int exponent = tanh_binades.front().exponent;
    for (const TanhBinade& binade : tanh_binades) {
        if (binade.exponent != exponent++ || binade.first_piece != next) return false;
        next += 1 << binade.index_bits;
    }
    return next == static_cast<int>(tanh_pieces.size());
}());

}  // namespace mx
