// A factor as tile_residues.hpp wants it: what the scales of its rows come to, and panels of
// residues. Used by residue_gemm.cpp alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reference/gemm/panels.hpp"
#include "reference/gemm/tile_residues.hpp"

namespace mx::gemm {

// Neighbours along k that are multiplied at once; `first` is a whole number of steps.
struct ResidueStretch {
    std::int64_t first;
    int count;  // at most residue_depth_max

    int steps() const { return (count + residue_step - 1) / residue_step; }
};

// The stretch that begins there; beyond `depth` there is none.
inline ResidueStretch stretch_at(std::int64_t first, std::int64_t depth) {
    return {first, static_cast<int>(depth - first < residue_depth_max ? depth - first
                                                                      : residue_depth_max)};
}

// A row's numbers are multiplied by `factor` before what they leave is taken.
struct Remainder {
    int modulus;
    int factor;
};

class ResidueFactor {
public:
    ResidueFactor(std::span<const ScaledRow> rows, std::int64_t depth);

    // Of any number in quanta of its row, at most.
    int digits() const { return span_of(rows_.front()).digits + spread_; }
    std::size_t rows() const { return rows_.size(); }
    // Of the quanta of a row's numbers.
    int exponent(std::size_t row) const { return exponents_[row]; }
    const Specials& specials(std::size_t row) const { return specials_[row]; }

    // From now on the numbers of each row are cut off, toward 0, below a power of two: its exponent
    // stands in `floors`.
    void cut_below(std::span<const int> floors);

    // Puts the codes of `panels` panels from row `first` on in order, to be cut for each modulus.
    void arrange(std::size_t first, std::size_t panels, const ResidueStretch& stretch);
    void make_tables(const ResidueLoops& loops, const Remainder& remainder);
    // One of the panels, in the order of a ResidueRun's `a`; what is beyond K and the last row is
    // zeros.
    void cut(const ResidueLoops& loops, std::size_t panel, std::int8_t* to) const;

private:
    void scan(std::size_t row);
    bool is_zero(const ScaledRow& row, std::int64_t first, std::int64_t count) const;
    int move_of(std::size_t row, Code scale) const;
    void cut_segment(std::byte* codes, int bits) const;
    void arrange_row(std::size_t row, const ResidueStretch& stretch, std::size_t place);

    std::span<const ScaledRow> rows_;
    std::int64_t depth_;
    Decoder decoder_;
    std::array<int, 256> scales_;  // the exponent of each E8M0 code
    std::vector<int> exponents_;
    std::vector<int> largest_scales_;  // of each row's blocks that have numbers
    std::vector<Specials> specials_;
    // The code of what is left of each code's number when its lowest m bits are cut off stands at
    // 256 * m; every such number has a code.
    std::vector<std::uint8_t> cut_codes_;
    int cut_max_ = 0;
    int spread_ = 0;        // of the scales of any row
    int segment_;           // numbers that share a scale, and a divisor of a step
    int steps_ = 0;         // that are arranged
    std::size_t room_ = 0;  // rows of steps that codes_ has room for
    AlignedBytes codes_;    // see ResidueCut
    std::vector<std::uint8_t> moves_;
    std::vector<std::int8_t> tables_;
};

}  // namespace mx::gemm
