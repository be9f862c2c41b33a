// A factor as the loops over rounded sums read it: its numbers as doubles, tile by tile, with norms
// of their slabs, and of each row what its numbers are multiples of. Used by rounded_gemm.cpp
// alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reference/gemm/panels.hpp"

namespace mx::gemm {

// Slabs that follow each other.
struct SlabStretch {
    std::int64_t first;
    int count;
};

// Some of the rows that lie in tiles, from row `first` on.
struct TileStretch {
    std::size_t first;
    std::size_t tiles;
};

class RoundedFactor {
public:
    // `width` rows are a tile.
    RoundedFactor(std::span<const ScaledRow> rows, std::int64_t depth, const Slabs& slabs,
                  int width);

    std::size_t rows() const { return rows_.size(); }
    int width() const { return width_; }
    const Specials& specials(std::size_t row) const { return specials_[row]; }
    // Whole numbers of units of the products of two rows are exact in doubles up to the product of
    // both rows' numbers.
    double exact_below(std::size_t row) const { return exact_below_[row]; }

    // Tile by tile, `width` numbers for each k of the slabs. Rows beyond the last, what is beyond K
    // and what is not finite are zeros.
    void pack(const TileStretch& tiles, const SlabStretch& slabs, double* numbers) const;

private:
    void scan(std::size_t row);
    void pack_row(std::size_t row, std::int64_t slab, double* numbers) const;
    const std::uint8_t* codes_of(std::size_t row, std::int64_t slab, std::uint8_t* copied) const;
    int count_in(std::int64_t slab) const;
    Code scale_of(const ScaledRow& row, std::int64_t slab) const;

    std::span<const ScaledRow> rows_;
    std::int64_t depth_;
    Slabs slabs_;
    int width_;
    Decoder decoder_;
    std::array<double, 256> scales_;  // 0 for NaN
    std::array<int, 256> exponents_;  // of the unit of a scale
    std::uint8_t mask_;               // of the bits of a code that are 0 only in a zero
    std::vector<Specials> specials_;
    std::vector<double> exact_below_;
};

}  // namespace mx::gemm
