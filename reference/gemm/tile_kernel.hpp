// What the loops that sum products work on: one tile of outputs, its factors packed, and the levels
// that its sums are kept in. Plain data alone, for these loops are compiled once for each
// instruction set and must share no code with the rest of the program.
//
// A sum is exact because it never leaves the integers that a double can hold. Block sums P are
// multiples of a power of two with at most 53 bits. Level l counts in units of 2^u, u = base +
// l * level_bits; it holds 1.5 * 2^(52 + u) and its count, so all it can become while the count is
// below 2^51 lies in one binade whose last place is 2^u. Adding P rounds it to units of 2^u, and
// what that leaves, at most half a unit, is found exactly and goes on to the level below:
//
//   new = level + P;  P -= new - level;  level = new;
//
//   P        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
//   level 1  xxxxxxxxxxxxxx|                       rounded to its units
//   level 0                |xxxxxxxxxxxxxxxxxx     the rest, of either sign
//
// The last level that a P is given is at or below P's own last place: nothing is left.
// Rounding is to nearest: exact_gemm.cpp sees to that. RoundedRun alone keeps no levels:
// rounded_gemm.hpp.
#pragma once

#include <cstdint>

namespace mx::gemm {

inline constexpr int level_bits = 41;
inline constexpr int levels_max = 16;
// A flush adds at most 2^level_bits units to a level; 2^9 of them keep its count below 2^51.
inline constexpr int flushes_max = 1 << 9;
static_assert(level_bits + 9 < 51);

// Products of one row and column that are summed before they are flushed to the levels.
inline constexpr int slab_max = 32;

// The levels that a block sum is added to, from the top down.
struct LevelRange {
    int top;
    int bottom;
};

// One slab of K for a tile. What `a` and `b` point to is the kernel's own.
struct TileStep {
    const void* a;
    const void* b;
    const double* scales_a;  // one a row and one a column, where the kernel scales block sums
    const double* scales_b;
    LevelRange levels[2];  // of the lower and the upper part of a block sum, where it has two
};

struct TileRun {
    const TileStep* steps;
    int count;
    int slab;        // products in a step
    int interval;    // products between two flushes
    double* levels;  // level by level, within each row by row
};

using RunTile = void (*)(const TileRun&);

// Products of doubles in which the scales are contained: a step is `slab` times a row's worth of a
// and of b. One for each instruction set; the shapes are theirs.
void run_doubles_portable(const TileRun& run);
void run_doubles_avx2(const TileRun& run);
void run_doubles_avx512(const TileRun& run);

// A tile of sums that may be rounded, each product as it is added: rounded_gemm.cpp says how far
// off they are. `a` and `b` have a row's worth of numbers for each of `count` k.
struct RoundedRun {
    const double* a;
    const double* b;
    int count;
    double* sums;  // row by row: added to
};

// How a code becomes a number: the bits of a sign and of a magnitude in the places that binary32
// has them in, which is its value times 2^(bias - 127); or an integer.
//
//   code of E4M3                    s eeee mmm      ->   s 0000eeee mmm00000000000000000000
struct CodeForm {
    bool is_integer;
    std::uint32_t sign;
    std::uint32_t magnitude;
    int sign_place;  // bits by which these move up
    int magnitude_place;
};

// One slab of a tile, of any side.
struct PackRun {
    const std::uint8_t* const* codes;  // of each row, `length` side by side
    const double* scales;              // of each row: times that of its codes' form
    CodeForm form;
    int width;
    int length;       // a multiple of pack_step
    double* numbers;  // a row's worth for each k
    double* norms;    // of each row no less than the root of its sum of squares
};
inline constexpr int pack_step = 8;

// The loops of one instruction set.
struct RoundedLoops {
    void (*run)(const RoundedRun& run);
    void (*pack)(const PackRun& run);
};

extern const RoundedLoops rounded_portable;
extern const RoundedLoops rounded_avx2;
extern const RoundedLoops rounded_avx512;

// Products of bfloat16 parts in tiles of 16 by 16, scaled as block sums. The name says how many
// parts a factor has and how many bits a part has.
void run_amx_1x9(const TileRun& run);
void run_amx_2x9(const TileRun& run);
void run_amx_4x8(const TileRun& run);

}  // namespace mx::gemm
