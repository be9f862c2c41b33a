// A factor as tile_slices.hpp wants it: what the scales of its rows come to, and panels of slices.
// Used by slice_gemm.cpp alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reference/gemm/panels.hpp"
#include "reference/gemm/tile_slices.hpp"

namespace mx::gemm {

// Neighbours along k that are multiplied at once.
struct SliceStretch {
    std::int64_t first;
    int count;  // at most slice_depth_max

    int steps() const { return (count + slice_step - 1) / slice_step; }
};

class SliceFactor {
public:
    SliceFactor(std::span<const ScaledRow> rows, std::int64_t depth);

    // Of every number; more than slices_max where the scales of a row are too far apart.
    int slices() const { return slices_; }
    std::size_t rows() const { return rows_.size(); }
    // Of the quanta of a row's numbers.
    int exponent(std::size_t row) const { return exponents_[row]; }
    const Specials& specials(std::size_t row) const { return specials_[row]; }

    void make_tables();  // wanted before anything is cut
    std::size_t panel_bytes(int steps) const;
    // The panel of slice_rows rows from `first` on, in the order of a SliceRun's `a`; rows that are
    // not there are zeros.
    void cut(const SliceLoops& loops, std::size_t first, const SliceStretch& stretch,
             std::int8_t* panel) const;

private:
    void scan(std::size_t row, std::int64_t depth);
    bool is_zero(const ScaledRow& row, std::int64_t first, std::int64_t count) const;
    int shift_of(std::size_t row, Code scale) const;
    // Of each block of a stretch, by how much its numbers are moved up.
    std::vector<std::uint8_t> shifts(std::size_t row, const SliceStretch& stretch) const;

    std::span<const ScaledRow> rows_;
    Decoder decoder_;
    std::array<int, 256> scales_;  // the exponent of each E8M0 code
    std::vector<int> exponents_;
    std::vector<Specials> specials_;
    int spread_ = 0;  // of the scales of any row
    int slices_ = 0;
    std::vector<std::int8_t> tables_;  // see SliceRow, from -spread_ on
};

}  // namespace mx::gemm
