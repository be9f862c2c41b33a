// Block sums as chains of double multiply-adds, exact because all of it stays below 2^53 units; see
// tile_kernel.hpp; and sums that may be rounded, which stand in memory only between stretches of k.
// Compiled once for each instruction set, which sets MX_TILE_LANES, MX_TILE_ROWS, MX_TILE_RUN and
// MX_TILE_ROUNDED. All products are exact: fused with a sum or not, the bits are the same.
#include <utility>

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
    constexpr int line = 64 / sizeof(double);
    for (int i = 0; i < rows * vectors * lanes; i += line) __builtin_prefetch(run.sums + i, 1);
    Sums sums{};
    multiply(sums, run.a, reinterpret_cast<const Vector*>(run.b), run.count);
    auto* held = reinterpret_cast<Vector*>(run.sums);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
#pragma GCC unroll 3
        for (int i = 0; i < vectors; ++i) held[row * vectors + i] += sums.of[row][i];
}

// Loops that compilers make vectors of.
void decode(const CodeForm& form, const std::uint8_t* codes, int length, double scale,
            double* __restrict to) {
    const std::uint32_t sign = form.sign, magnitude = form.magnitude;
    const int sign_place = form.sign_place, magnitude_place = form.magnitude_place;
    if (form.is_integer) {
        for (int k = 0; k < length; ++k) to[k] = static_cast<std::int8_t>(codes[k]) * scale;
        return;
    }
    for (int k = 0; k < length; ++k) {
        const std::uint32_t bits = (codes[k] & sign) << sign_place | (codes[k] & magnitude)
                                                                         << magnitude_place;
        to[k] = static_cast<double>(__builtin_bit_cast(float, bits)) * scale;
    }
}

// Rows become columns: each step has the first half of them meet the second, number by number.
template <std::size_t... i>
[[gnu::always_inline]] inline void transpose(Vector (&rows_of)[lanes], std::index_sequence<i...>) {
    for (int step = 1; step < lanes; step *= 2) {
        Vector before[lanes];
        for (int row = 0; row < lanes; ++row) before[row] = rows_of[row];
        for (int row = 0; row < lanes / 2; ++row) {
            const Vector upper = before[row], lower = before[row + lanes / 2];
            rows_of[2 * row] =
                __builtin_shufflevector(upper, lower, static_cast<int>(i / 2 + i % 2 * lanes)...);
            rows_of[2 * row + 1] = __builtin_shufflevector(
                upper, lower, static_cast<int>(lanes / 2 + i / 2 + i % 2 * lanes)...);
        }
    }
}

// What is more than the root by 2^-30 of it is not less than the true one: the sum of squares and
// the root are off by far less.
void pack(const PackRun& run) {
    alignas(64) double decoded[lanes][slab_max];
    for (int first = 0; first < run.width; first += lanes) {
        for (int row = 0; row < lanes; ++row)
            decode(run.form, run.codes[first + row], run.length, run.scales[first + row],
                   decoded[row]);
        Vector squares[2] = {};
        double* to = run.numbers + first;
        for (int k = 0; k < run.length; k += lanes) {
            Vector numbers[lanes];
#pragma GCC unroll 8
            for (int row = 0; row < lanes; ++row)
                numbers[row] = *reinterpret_cast<const Vector*>(decoded[row] + k);
            transpose(numbers, std::make_index_sequence<lanes>());
#pragma GCC unroll 8
            for (int i = 0; i < lanes; ++i, to += run.width) {
                *reinterpret_cast<Vector*>(to) = numbers[i];
                squares[i % 2] += numbers[i] * numbers[i];
            }
        }
        squares[0] += squares[1];
        for (int row = 0; row < lanes; ++row)
            run.norms[first + row] = __builtin_sqrt(squares[0][row]) * (1 + 0x1p-30);
    }
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

const RoundedLoops MX_TILE_ROUNDED{run_rounded, pack};

}  // namespace mx::gemm
