// Exact dot products by way of residues (tile_residues.hpp), where the scales of every row are near
// enough to each other. Used by exact_gemm.cpp.
#pragma once

#include <cstdint>

#include "reference/gemm/exact_gemm.hpp"
#include "reference/gemm/residue_factor.hpp"

namespace mx::gemm {

class ResidueGemm {
public:
    // Reads every code and scale.
    ResidueGemm(const ResidueLoops& loops, const Factors& factors);

    // Do so many moduli hold its sums, or all, where there are fewer?
    bool fits(int moduli) const;
    // How many do; only where all do.
    int moduli() const;
    const ResidueCosts& costs() const { return loops_.costs; }

    const ResidueFactor& a() const { return a_; }
    const ResidueFactor& b() const { return b_; }

    // From now on the sums are those of factors that are cut off, and below 2^bits units.
    void cut_below(std::span<const int> floors_a, std::span<const int> floors_b, int bits);

    // As for_each_sum; asks for sums that the moduli hold.
    void run(const Receive& receive);

private:
    // Of a panel's outputs, as ResidueJoin leaves them.
    struct Digits {
        const std::int64_t* of;
        int levels;
    };
    void hand_over(const Place& first, const Digits& digits, const Receive& receive) const;

    const ResidueLoops& loops_;
    const Factors& factors_;
    ResidueFactor a_, b_;
    int sum_bits_;
};

}  // namespace mx::gemm
