// Block sums as chains of double multiply-adds, exact because all of it stays below 2^53 units; see
// tile_kernel.hpp; and sums that may be rounded, which stand in memory only between stretches of k.
// Compiled once for each instruction set, which sets MX_TILE_LANES, MX_TILE_ROWS, MX_TILE_RUN and
// MX_TILE_ROUNDED. All products are exact: fused with a sum or not, the bits are the same.
#include "reference/gemm/tile_kernel.hpp"

#if defined(__FAST_MATH__)
#error "mxcheck compares bits: build it without -ffast-math"
#endif

namespace mx::gemm {
namespace {

constexpr int lanes = MX_TILE_LANES;
constexpr int rows = MX_TILE_ROWS;
constexpr int vectors = 3;  // of a row of the tile

using Vector [[gnu::vector_size(lanes * sizeof(double)), gnu::may_alias]] = double;

struct Sums {
    Vector of[rows][vectors];
};

// The loops over a tile are unrolled whole, so that its sums stay in registers.
[[gnu::always_inline]] inline void multiply(Sums& sums, const double* a, const Vector* b,
                                            int count) {
#pragma GCC unroll 1
    for (int k = 0; k < count; ++k, a += rows, b += vectors) {
        const Vector b0 = b[0], b1 = b[1], b2 = b[2];
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
            const Vector left = a[row] - Vector{};
            sums.of[row][0] += left * b0;
            sums.of[row][1] += left * b1;
            sums.of[row][2] += left * b2;
        }
    }
}

[[gnu::always_inline]] inline void flush(Sums& sums, LevelRange range, Vector* levels) {
#pragma GCC unroll 1
    for (int level = range.top; level > range.bottom; --level) {
        Vector* held = levels + level * rows * vectors;
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row)
#pragma GCC unroll 3
            for (int i = 0; i < vectors; ++i) {
                const Vector before = held[row * vectors + i];
                const Vector after = before + sums.of[row][i];
                held[row * vectors + i] = after;
                sums.of[row][i] -= after - before;
            }
    }
    Vector* held = levels + range.bottom * rows * vectors;
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
#pragma GCC unroll 3
        for (int i = 0; i < vectors; ++i) held[row * vectors + i] += sums.of[row][i];
}

void run_rounded(const RoundedRun& run) {
    Sums sums{};
    multiply(sums, run.a, reinterpret_cast<const Vector*>(run.b), run.count);
    auto* held = reinterpret_cast<Vector*>(run.sums);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
#pragma GCC unroll 3
        for (int i = 0; i < vectors; ++i) held[row * vectors + i] += sums.of[row][i];
}

// What is more than the root by 2^-30 of it is not less than the true one: the sum of `length`
// squares and the root are off by far less.
template <int width>
void find_norms(const NormsRun& run) {
    const double* number = run.numbers;
    for (int slab = 0; slab < run.slabs; ++slab) {
        double squares[width] = {};
        for (int k = 0; k < run.length; ++k, number += width)
            for (int row = 0; row < width; ++row) squares[row] += number[row] * number[row];
        for (int row = 0; row < width; ++row)
            run.norms[slab * width + row] = __builtin_sqrt(squares[row]) * (1 + 0x1p-30);
    }
}

void find_norms_of_side(const NormsRun& run) {
    if (run.width == rows)
        find_norms<rows>(run);
    else
        find_norms<vectors * lanes>(run);
}

}  // namespace

void MX_TILE_RUN(const TileRun& run) {
    auto* levels = reinterpret_cast<Vector*>(run.levels);
    for (int s = 0; s < run.count; ++s) {
        const TileStep& step = run.steps[s];
        const auto* a = static_cast<const double*>(step.a);
        const auto* b = static_cast<const Vector*>(step.b);
        for (int k = 0; k < run.slab; k += run.interval) {
            const int left = run.slab - k;
            Sums sums{};
            multiply(sums, a + k * rows, b + k * vectors,
                     left < run.interval ? left : run.interval);
            flush(sums, step.levels[0], levels);
        }
    }
}

const RoundedLoops MX_TILE_ROUNDED{run_rounded, find_norms_of_side};

}  // namespace mx::gemm
