// Block sums on the tile multiplier of a processor with AMX, exact because every sum of parts stays
// below 2^24, which is what its binary32 sums can hold; see tile_kernel.hpp.
//
// A factor is an integer of quanta, cut into parts of few bits, each a bfloat16 number without
// loss:
//
//   factor        s pppppppp pppppppp       parts p1, p0, both with the sign
//   block sum     a1*b1 * 2^2n + (a1*b0 + a0*b1) * 2^n + a0*b0
//
// Products whose places are equal lie on one diagonal and are summed in one tile.
#include <immintrin.h>

#include "reference/gemm/tile_config.hpp"
#include "reference/gemm/tile_kernel.hpp"

#if defined(__FAST_MATH__)
#error "mxcheck compares bits: build it without -ffast-math"
#endif

namespace mx::gemm {
namespace {

constexpr int side = 16;                 // rows and columns of a tile
constexpr int part_numbers = side * 32;  // of one part of a step: 16 by 32 of bfloat16
constexpr int tile_numbers = side * side;
constexpr int row_bytes = 64;

using Vector = __m512d;
constexpr int vectors = tile_numbers / 8;
constexpr int together = 8;  // vectors that are flushed at once, for the sake of registers

// The sums of the diagonals of a step.
struct Diagonals {
    alignas(64) float of[7][tile_numbers];
};

const unsigned short* part(const void* parts, int index) {
    return static_cast<const unsigned short*>(parts) + index * part_numbers;
}

void zero_three() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
}

// Tiles 0 to 2, to three diagonals that follow each other.
void store_three(float (*to)[tile_numbers]) {
    _tile_stored(0, to[0], row_bytes);
    _tile_stored(1, to[1], row_bytes);
    _tile_stored(2, to[2], row_bytes);
}

// All products that have one place; each is given two tiles of its own until the next but one.
#define MX_MULTIPLY_EVEN(sum, i, j)             \
    _tile_loadd(4, part(step.a, i), row_bytes); \
    _tile_loadd(5, part(step.b, j), row_bytes); \
    _tile_dpbf16ps(sum, 4, 5)
#define MX_MULTIPLY_ODD(sum, i, j)              \
    _tile_loadd(6, part(step.a, i), row_bytes); \
    _tile_loadd(7, part(step.b, j), row_bytes); \
    _tile_dpbf16ps(sum, 6, 7)

void multiply_1(const TileStep& step, Diagonals& sums) {
    _tile_zero(0);
    MX_MULTIPLY_EVEN(0, 0, 0);
    _tile_stored(0, sums.of[0], row_bytes);
}

void multiply_2(const TileStep& step, Diagonals& sums) {
    zero_three();
    MX_MULTIPLY_EVEN(0, 0, 0);
    MX_MULTIPLY_ODD(2, 1, 1);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(1, 6, 5);
    store_three(sums.of);
}

void multiply_4(const TileStep& step, Diagonals& sums) {
    zero_three();
    _tile_zero(3);
    MX_MULTIPLY_EVEN(3, 0, 3);
    MX_MULTIPLY_ODD(2, 0, 2);
    MX_MULTIPLY_EVEN(1, 0, 1);
    MX_MULTIPLY_ODD(0, 0, 0);
    MX_MULTIPLY_EVEN(3, 1, 2);
    MX_MULTIPLY_ODD(2, 1, 1);
    MX_MULTIPLY_EVEN(1, 1, 0);
    MX_MULTIPLY_ODD(3, 2, 1);
    MX_MULTIPLY_EVEN(2, 2, 0);
    MX_MULTIPLY_ODD(3, 3, 0);
    store_three(sums.of);
    _tile_stored(3, sums.of[3], row_bytes);
    zero_three();
    MX_MULTIPLY_EVEN(0, 1, 3);
    MX_MULTIPLY_ODD(1, 2, 3);
    MX_MULTIPLY_EVEN(2, 3, 3);
    MX_MULTIPLY_ODD(0, 2, 2);
    MX_MULTIPLY_EVEN(1, 3, 2);
    MX_MULTIPLY_ODD(0, 3, 1);
    store_three(sums.of + 4);
}

[[gnu::always_inline]] inline Vector widened(const Diagonals& sums, int diagonal, int vector) {
    return _mm512_cvtps_pd(_mm256_load_ps(sums.of[diagonal] + vector * 8));
}

// The diagonals first to last in the units of the first.
template <int first, int last, int part_bits>
[[gnu::always_inline]] inline Vector joined(const Diagonals& sums, int vector) {
    Vector total = widened(sums, first, vector);
    double place = 1;
    for (int i = first + 1; i <= last; ++i) {
        place *= 1 << part_bits;
        total += widened(sums, i, vector) * (place - Vector{});
    }
    return total;
}

[[gnu::always_inline]] inline void flush(Vector (&sums)[together], LevelRange range,
                                         double* levels) {
#pragma GCC unroll 1
    for (int level = range.top; level > range.bottom; --level) {
        double* held = levels + level * tile_numbers;
#pragma GCC unroll 8
        for (int i = 0; i < together; ++i) {
            const Vector before = _mm512_load_pd(held + i * 8);
            const Vector after = before + sums[i];
            _mm512_store_pd(held + i * 8, after);
            sums[i] -= after - before;
        }
    }
    double* held = levels + range.bottom * tile_numbers;
#pragma GCC unroll 8
    for (int i = 0; i < together; ++i)
        _mm512_store_pd(held + i * 8, _mm512_load_pd(held + i * 8) + sums[i]);
}

// Scaled by powers of two, and by the place of the first diagonal, which keep every digit.
template <int first, int last, int part_bits>
void add_diagonals(const TileStep& step, const Diagonals& sums, LevelRange range, double* levels) {
    const double place = static_cast<double>(1ll << first * part_bits);
    const Vector columns[2] = {_mm512_loadu_pd(step.scales_b) * (place - Vector{}),
                               _mm512_loadu_pd(step.scales_b + 8) * (place - Vector{})};
    for (int vector = 0; vector < vectors; vector += together) {
        Vector scaled[together];
#pragma GCC unroll 8
        for (int i = 0; i < together; ++i) {
            const Vector scale = columns[i % 2] * (step.scales_a[(vector + i) / 2] - Vector{});
            scaled[i] = joined<first, last, part_bits>(sums, vector + i) * scale;
        }
        flush(scaled, range, levels + vector * 8);
    }
}

// The numbers of a later step, on their way while this one is summed.
void fetch(const TileStep& step, int parts) {
    const auto* a = static_cast<const char*>(step.a);
    const auto* b = static_cast<const char*>(step.b);
    for (int i = 0; i < parts * part_numbers * 2; i += 64) {
        __builtin_prefetch(a + i);
        __builtin_prefetch(b + i);
    }
}

// The next step is multiplied before this one is added, so that both go on at once.
template <int parts, typename Multiply, typename Add>
void for_each_step(const TileRun& run, const Multiply& multiply, const Add& add) {
    configure_tiles();
    Diagonals sums[2];
    if (run.count > 0) multiply(run.steps[0], sums[0]);
    for (int s = 0; s < run.count; ++s) {
        if (s + 2 < run.count) fetch(run.steps[s + 2], parts);
        if (s + 1 < run.count) multiply(run.steps[s + 1], sums[(s + 1) % 2]);
        add(run.steps[s], sums[s % 2]);
    }
    _tile_release();
}

}  // namespace

void run_amx_1x9(const TileRun& run) {
    for_each_step<1>(run, multiply_1, [&run](const TileStep& step, const Diagonals& sums) {
        add_diagonals<0, 0, 9>(step, sums, step.levels[0], run.levels);
    });
}

// Of two parts of 9 bits a diagonal has two products: 2 * 32 * (2^9 - 1)^2.
static_assert(2 * 32 * 511 * 511 < 1 << 24);

void run_amx_2x9(const TileRun& run) {
    for_each_step<2>(run, multiply_2, [&run](const TileStep& step, const Diagonals& sums) {
        add_diagonals<0, 2, 9>(step, sums, step.levels[0], run.levels);
    });
}

// Of four parts of 8 bits a diagonal has four. Four diagonals reach 24 + 24 bits, all seven would
// not fit in a double: so they are flushed in two.
static_assert(4 * 32 * 255 * 255 < 1 << 24);

void run_amx_4x8(const TileRun& run) {
    for_each_step<4>(run, multiply_4, [&run](const TileStep& step, const Diagonals& sums) {
        add_diagonals<0, 3, 8>(step, sums, step.levels[0], run.levels);
        add_diagonals<4, 6, 8>(step, sums, step.levels[1], run.levels);
    });
}

}  // namespace mx::gemm
