// How large the numbers of each block of a factor may be, and those of each of its rows together.
// Used by settled_gemm.cpp and leading_blocks.cpp; proved by
// reference/proof/prove_gemm_bounds.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/gemm/panels.hpp"

namespace mx::gemm {

// The top of a block of zeros: below all others, also when another's is added to it.
inline constexpr std::int16_t no_top = -8000;

// Of rows with E8M0 scales.
class BlockTops {
public:
    BlockTops(std::span<const ScaledRow> rows, std::int64_t depth);

    std::int64_t count() const { return count_; }  // of a row's blocks
    // Of each block of a row, an exponent of two that its numbers are below.
    const std::int16_t* of(std::size_t row) const {
        return tops_.data() + static_cast<std::int64_t>(row) * count_;
    }
    // An exponent of two that the sum of all magnitudes of a row is below.
    int norm(std::size_t row) const { return norms_[row]; }

private:
    int top_of(const ScaledRow& row, std::int64_t block) const;
    int norm_of(const ScaledRow& row, const std::int16_t* tops) const;
    int length_of(const ScaledRow& row, std::int64_t block) const;
    // The magnitudes of a block, in quanta of its format.
    std::uint64_t magnitudes(const ScaledRow& row, std::int64_t block) const;

    std::int64_t depth_;
    std::int64_t count_;
    int low_;                                // of the quantum of the format
    std::uint8_t mask_;                      // of the bits of a code that its width depends on
    std::array<int, 256> scales_;            // the exponent of each E8M0 code; 0 for NaN
    std::array<int, 256> widths_;            // of a number of such bits, in quanta, at most
    std::array<std::uint64_t, 256> quanta_;  // magnitudes; 0 for what is not finite
    std::vector<std::int16_t> tops_;
    std::vector<int> norms_;
};

}  // namespace mx::gemm
