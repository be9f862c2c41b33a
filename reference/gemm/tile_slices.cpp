// Products of slices on the tile multiplier of a processor with AMX, in integers: nothing here can
// round. See tile_slices.hpp.
#include "reference/gemm/tile_slices.hpp"

#include <immintrin.h>

#include "reference/gemm/tile_config.hpp"
#include "reference/gemm/tile_kernel.hpp"

namespace mx::gemm {
namespace {

constexpr int row_bytes = 64;
constexpr int diagonals_max = 2 * slices_max - 1;

// The sums of the products of one place.
struct Places {
    alignas(64) int of[diagonals_max][slice_outputs];
};

// So many steps of one slice of `a` stay in the nearest cache while it meets all slices of `b`.
constexpr int steps_at_once = 8;

struct Tiles {
    const std::int8_t* a;
    const std::int8_t* b;
    int steps;
};

// Two tiles of one slice of `a` by two of one slice of `b`, over some steps, into tiles 0 to 3.
void multiply(const Tiles& tiles) {
    const std::int8_t *a = tiles.a, *b = tiles.b;
    for (int i = 0; i < tiles.steps; ++i, a += slice_step_bytes, b += slice_step_bytes) {
        _tile_loadd(4, a, row_bytes);
        _tile_loadd(6, b, row_bytes);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, b + slice_tile_bytes, row_bytes);
        _tile_dpbssd(1, 4, 7);
        _tile_loadd(5, a + slice_tile_bytes, row_bytes);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
}

void multiply_onto(int* sums, const Tiles& tiles) {
    _tile_loadd(0, sums, row_bytes);
    _tile_loadd(1, sums + 256, row_bytes);
    _tile_loadd(2, sums + 512, row_bytes);
    _tile_loadd(3, sums + 768, row_bytes);
    multiply(tiles);
    _tile_stored(0, sums, row_bytes);
    _tile_stored(1, sums + 256, row_bytes);
    _tile_stored(2, sums + 512, row_bytes);
    _tile_stored(3, sums + 768, row_bytes);
}

// Every slice of `a` by every one of `b`, each product to the sums of its place.
void multiply_slices(const SliceRun& run, Places& places) {
    const std::ptrdiff_t stride = std::ptrdiff_t{run.steps} * slice_step_bytes;
    for (int first = 0; first < run.steps; first += steps_at_once) {
        const int left = run.steps - first;
        const int steps = left < steps_at_once ? left : steps_at_once;
        const std::int8_t* a = run.a + std::ptrdiff_t{first} * slice_step_bytes;
        const std::int8_t* b = run.b + std::ptrdiff_t{first} * slice_step_bytes;
        for (int i = 0; i < run.slices_a; ++i)
            for (int j = 0; j < run.slices_b; ++j)
                multiply_onto(places.of[i + j], {a + i * stride, b + j * stride, steps});
    }
}

// Eight sums from `first` on are added, each at its place, and what a level has too much of goes
// on to the next. The highest keeps it.
void add_places(const SliceRun& run, const Places& places, int first) {
    const __m512i mask = _mm512_set1_epi64((std::int64_t{1} << level_bits) - 1);
    const int count = run.slices_a + run.slices_b - 1;
    __m512i carry = _mm512_setzero_si512();
    for (int level = 0, place = 0; level < run.levels; ++level) {
        std::int64_t* held = run.digits + level * slice_outputs + first;
        const bool is_highest = level + 1 == run.levels;
        __m512i digit = _mm512_add_epi64(_mm512_load_si512(held), carry);
        carry = _mm512_setzero_si512();
        for (; place < count && place * slice_bits < (level + 1) * level_bits; ++place) {
            const int bit = place * slice_bits - level * level_bits;
            const __m512i sum = _mm512_cvtepi32_epi64(
                _mm256_load_si256(reinterpret_cast<const __m256i*>(places.of[place] + first)));
            const __m512i moved = _mm512_sll_epi64(sum, _mm_cvtsi32_si128(bit));
            digit = _mm512_add_epi64(digit, is_highest ? moved : _mm512_and_si512(moved, mask));
            carry =
                _mm512_add_epi64(carry, _mm512_sra_epi64(sum, _mm_cvtsi32_si128(level_bits - bit)));
        }
        if (!is_highest) {
            carry = _mm512_add_epi64(carry, _mm512_srai_epi64(digit, level_bits));
            digit = _mm512_and_si512(digit, mask);
        }
        _mm512_store_si512(held, digit);
    }
}

// What a table of 256 bytes has for each code.
__m512i looked_up(const std::int8_t* table, __m512i codes) {
    const auto quarter = [table](int i) { return _mm512_loadu_si512(table + 64 * i); };
    const __m512i lower = _mm512_permutex2var_epi8(quarter(0), codes, quarter(1));
    const __m512i upper = _mm512_permutex2var_epi8(quarter(2), codes, quarter(3));
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(codes), upper);
}

// Lanes from `first` up to `end`, of 64.
__mmask64 lanes_between(int first, int end) {
    const auto below = [](int lane) {
        return lane == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lane) - 1;
    };
    return below(end) & ~below(first);
}

void run_slices(const SliceRun& run) {
    Places places;
    const int count = run.slices_a + run.slices_b - 1;
    for (int place = 0; place < count; ++place)
        for (int i = 0; i < slice_outputs; ++i) places.of[place][i] = 0;
    configure_tiles();
    multiply_slices(run, places);
    _tile_release();
    for (int first = 0; first < slice_outputs; first += 8) add_places(run, places, first);
}

// Lanes of a step that share a scale.
struct Segment {
    __mmask64 lanes;
    const std::int8_t* table;
};

// The segments of a row's next step; its blocks are counted on.
int find_segments(const SliceCut& cut, SliceRow& row, int count, Segment* segments) {
    int found = 0;
    for (int lane = 0, end = 0; lane < count; lane = end) {
        end = lane + row.block_left < count ? lane + row.block_left : count;
        segments[found++] = {lanes_between(lane, end),
                             cut.tables - std::ptrdiff_t{*row.shifts} * 256};
        row.block_left -= end - lane;
        if (row.block_left == 0) {
            ++row.shifts;
            row.block_left = row.block;
        }
    }
    return found;
}

void cut_step(const SliceCut& cut, SliceRow& row) {
    const int count = row.count < slice_step ? row.count : slice_step;
    const __m512i codes = _mm512_maskz_loadu_epi8(lanes_between(0, count), row.codes);
    Segment segments[slice_step];
    const int found = find_segments(cut, row, count, segments);
    for (int i = 0; i < cut.slices; ++i) {
        __m512i slice = _mm512_setzero_si512();
        for (int j = 0; j < found; ++j)
            slice =
                _mm512_mask_mov_epi8(slice, segments[j].lanes,
                                     looked_up(segments[j].table + i * slice_bits * 256, codes));
        _mm512_store_si512(row.to + i * cut.stride, slice);
    }
    // So many rows at once are more than the processor looks ahead in by itself.
    constexpr int ahead = 4 * slice_step;
    if (row.count > ahead) _mm_prefetch(row.codes + ahead, _MM_HINT_T1);
    row.codes += count;
    row.count -= count;
    row.to += slice_step_bytes;
}

// Tile by tile, so that what is written stays in the nearest cache.
void cut_rows(const SliceCut& cut) {
    for (int step = 0; step < cut.steps; ++step)
        for (int row = 0; row < cut.count; ++row) cut_step(cut, cut.rows[row]);
}

// Words of 4 bytes change their row and column: first of pairs of rows, then of fours, then whole
// quarters.
void transpose_tiles(std::int8_t* tiles, int count) {
    for (; count > 0; --count, tiles += slice_tile_bytes) {
        __m512i r[16], t[16];
        for (int i = 0; i < 16; ++i) r[i] = _mm512_load_si512(tiles + i * row_bytes);
        for (int i = 0; i < 16; i += 2) {
            t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
            t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
        }
        for (int i = 0; i < 16; i += 4)
            for (int half = 0; half < 2; ++half) {
                r[i + 2 * half] = _mm512_unpacklo_epi64(t[i + half], t[i + 2 + half]);
                r[i + 2 * half + 1] = _mm512_unpackhi_epi64(t[i + half], t[i + 2 + half]);
            }
        // r[4 * f + c] holds of rows 4 f to 4 f + 3 the columns c, c + 4, c + 8 and c + 12.
        for (int c = 0; c < 4; ++c) {
            const __m512i even01 = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88);
            const __m512i odd01 = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xDD);
            const __m512i even23 = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88);
            const __m512i odd23 = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xDD);
            t[c] = _mm512_shuffle_i32x4(even01, even23, 0x88);
            t[c + 4] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
            t[c + 8] = _mm512_shuffle_i32x4(even01, even23, 0xDD);
            t[c + 12] = _mm512_shuffle_i32x4(odd01, odd23, 0xDD);
        }
        for (int i = 0; i < 16; ++i) _mm512_store_si512(tiles + i * row_bytes, t[i]);
    }
}

}  // namespace

const SliceLoops amx_slices{run_slices, cut_rows, transpose_tiles};

}  // namespace mx::gemm
