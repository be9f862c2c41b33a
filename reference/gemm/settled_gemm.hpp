// What sums round to, whatever the scales: by residues of numbers that are cut off far below the
// largest of their row. What is cut off is below a bound, and settles most outputs; the others are
// asked one by one, and what is still open of them in full. Used by exact_gemm.cpp; proved by
// reference/proof/prove_gemm_settled.cpp.
#pragma once

#include <vector>

#include "reference/gemm/block_tops.hpp"
#include "reference/gemm/residue_gemm.hpp"

namespace mx::gemm {

// Are there blocks of one length, and as many outputs as a panel has?
bool may_be_settled(const Factors& factors);

class SettledGemm {
public:
    // Takes the residues' factors as they are, uncut.
    SettledGemm(ResidueGemm residues, const Factors& factors);

    // The bits of a row's numbers for which a sample of the outputs says that all of them take the
    // least time; 0 where as many moduli take less.
    int bits_wanted(int moduli_beside) const;
    ResidueGemm& residues() { return residues_; }

    void run(int bits, const Kernel& beside, const ReceiveValue& receive);

private:
    int bits_needed(const Place& place) const;

    ResidueGemm residues_;
    const Factors& factors_;
    BlockTops a_, b_;
};

}  // namespace mx::gemm
