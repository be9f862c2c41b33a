// The vector kernel of gemm: a tile of sums. Used by gemm.cpp.
#pragma once

#include <cstddef>

namespace mx::cpu {

inline constexpr std::ptrdiff_t tile_rows = 8;
inline constexpr std::ptrdiff_t tile_columns = 8;

// Rows of A along k, and columns of B side by side: eight numbers a k.
struct Tile {
    const float* a;
    std::ptrdiff_t a_stride;
    const float* b;
    std::ptrdiff_t depth;
    float* sums;  // 8 x 8, row-major
};

// Each sum is a chain of fused multiply-adds in the order of k that begins at 0.
void sum_tile(const Tile& tile);

}  // namespace mx::cpu
