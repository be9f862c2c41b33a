// What the loops over residues work on. Plain data alone, for these loops are compiled for one
// processor and must share no code with the rest of the program.
//
// All scales of a row along K become part of its numbers: a row is integers of one quantum, and of
// an integer the remainders by some moduli are kept, each a factor of 8 bits. For each modulus the
// products are summed over K in 32 bits, and moduli.hpp makes one sum of what is left of them:
//
//   row, k = 0    xxxx00000000000000    scale 2^14 of a block       mod 256   mod 255   mod 253
//   row, k = 32   00000000000000xxxx    scale 2^0               ->  -96       17        -33  ...
//
// So many moduli are wanted as the sum has bytes; an integer cut into n bytes would want n * n
// products. tile_kernel.hpp has the way for scales that are too far apart for all moduli.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::gemm {

inline constexpr int moduli_max = 41;
inline constexpr int least_modulus = 64;
inline constexpr int residue_levels_max = 8;

inline constexpr int residue_rows = 32;  // of a panel: two tiles one upon the other
inline constexpr int residue_step = 64;  // of k, that a tile holds
inline constexpr int residue_steps_max = 32;
inline constexpr int residue_depth_max = residue_step * residue_steps_max;
inline constexpr int residue_tile_bytes = 16 * 64;
inline constexpr int residue_step_bytes = 2 * residue_tile_bytes;
inline constexpr int residue_outputs = residue_rows * residue_rows;

// Panels of one factor and one of the other. Step by step a panel holds two tiles: of `a` the rows
// of a tile lie one below the other, of `b` four neighbours along k of every row do. Of `b` are
// residues that make_b_tiles of the same loops has left.
struct ResidueRun {
    const std::int8_t* a;
    int panels;  // of a, one after the other
    const std::int8_t* b;
    int steps;
    int modulus;
    // Of each panel's outputs, where residue_output says: added to, and left between 0 and 2^9.
    std::uint16_t* residues;
};

struct ResidueOutput {
    int row;
    int column;
};

constexpr int residue_output(const ResidueOutput& output) {
    return (output.row / 16 * 2 + output.column / 16) * 256 + output.row % 16 * 16 +
           output.column % 16;
}

// Codes in the order of a panel.
struct ResidueCut {
    const std::uint8_t* codes;
    // Of each segment of each row of a step, by which its numbers are moved up.
    const std::uint8_t* moves;
    std::int64_t rows;  // of all steps
    int segment;        // numbers that share a move: a divisor of a step
    // What every code leaves when it is moved up by m stands at tables + 256 * m.
    const std::int8_t* tables;
    std::int8_t* to;
};

// Of the codes of a format, as ResidueCut has them: the first table stands, the others are made.
struct ResidueTables {
    std::int8_t* tables;
    int count;
    int modulus;
};

// What a residue stands for: its part of M, and M / p.
inline constexpr int fraction_bits = 40;
struct ResidueWeight {
    std::uint64_t fraction;  // 2^fraction_bits / p
    std::uint64_t digits[residue_levels_max];
};

struct ResidueJoin {
    const std::uint16_t* residues;  // those of the next modulus lie `stride` further on
    std::ptrdiff_t stride;
    const ResidueWeight* weights;
    int moduli;
    int levels;
    const std::uint64_t* product;  // of all moduli
    // Digits of sums as window_sum.hpp has them, level by level; within each, as the residues.
    std::int64_t* digits;
};

// Times of other ways, in units of what one modulus takes. Measured; they choose the way alone, and
// no bit depends on them.
struct ResidueCosts {
    int doubles_once;   // all outputs by a kernel of doubles
    int doubles_twice;  // the same where it sums numbers below two and from two on apart
    int rounded;        // all outputs by sums that round
    int open_output;    // an output that is asked by its blocks, to one that is not
};

// The loops of one processor.
struct ResidueLoops {
    ResidueCosts costs;
    void (*run)(const ResidueRun& run);
    void (*double_tables)(const ResidueTables& tables);
    void (*cut_rows)(const ResidueCut& cut);
    // From the order of `a` to that of `b`; and what `run` takes as bytes without a sign has none.
    void (*make_b_tiles)(std::int8_t* tiles, int count, int modulus);
    void (*join)(const ResidueJoin& join);
};

extern const ResidueLoops amx_residues;
extern const ResidueLoops vnni_residues;

}  // namespace mx::gemm
