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
    int length() const { return length_; }  // of a slab, packed
    const Specials& specials(std::size_t row) const { return specials_[row]; }
    // Whole numbers of units of the products of two rows are exact in doubles up to the product of
    // both rows' numbers.
    double exact_below(std::size_t row) const { return exact_below_[row]; }

    // Where the numbers of tiles and their norms go: of a tile, `width` for each k, and of norms
    // for each slab. The norms of a tile lie `norms_step` after those of the one before.
    struct Packed {
        double* numbers;
        double* norms;
        std::size_t norms_step;
    };
    // Rows beyond the last and what is beyond K are zeros, what is not finite is anything.
    void pack(const RoundedLoops& loops, const TileStretch& tiles, const SlabStretch& slabs,
              const Packed& to) const;

private:
    struct Scale {
        double factor;  // times that of the form; of NaN, any
        int unit;       // an exponent of two that it is a multiple of
        bool is_finite;
    };

    void scan(std::size_t row);
    const std::uint8_t* codes_of(std::size_t row, std::int64_t slab, std::uint8_t* copied) const;
    const Scale& scale_of(std::size_t row, std::int64_t slab) const;
    int count_in(std::int64_t slab) const;

    std::span<const ScaledRow> rows_;
    std::int64_t depth_;
    Slabs slabs_;
    int width_;
    int length_;
    Decoder decoder_;
    CodeForm form_;
    std::int64_t slabs_a_block_;
    std::array<Scale, 256> scales_;
    Scale scale_of_none_;
    std::uint64_t mask_;  // of the bits of eight codes that are 0 only in zeros
    std::vector<Specials> specials_;
    std::vector<double> exact_below_;
};

}  // namespace mx::gemm
