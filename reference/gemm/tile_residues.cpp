// Products of residues in integers, on the tile multiplier of a processor with AMX, or on vectors
// of 512 bits that multiply bytes (VNNI). See tile_residues.hpp.
#include "reference/gemm/tile_residues.hpp"

#include <immintrin.h>

#include "reference/gemm/tile_config.hpp"
#include "reference/gemm/tile_kernel.hpp"

namespace mx::gemm {
namespace {

constexpr int row_bytes = 64;

struct Sums {
    alignas(64) int of[residue_outputs];
};

// A quotient in binary32 is wrong by at most a few times 2^-24 of itself: of sums below 2^27 a
// remainder is left that is off its least by at most 3 * 2^-24 * 2^27 = 24.
constexpr int remainder_error = 24;
static_assert(std::int64_t{residue_depth_max} * 128 * 255 + 512 < 1 << 27);
static_assert(least_modulus / 2 > remainder_error);
static_assert(256 + 128 + remainder_error < 512);

// What sixteen sums leave together with what was left before.
class Remains {
public:
    explicit Remains(int modulus)
        : modulus_(_mm512_set1_epi32(modulus)),
          inverse_(_mm512_set1_ps(1.0f / static_cast<float>(modulus))) {}

    [[gnu::always_inline]] void add(__m512i sums, std::uint16_t* residues) const {
        auto* held = reinterpret_cast<__m256i*>(residues);
        const __m512i sum = _mm512_add_epi32(sums, _mm512_cvtepu16_epi32(_mm256_load_si256(held)));
        const __m512i quotient =
            _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), inverse_));
        const __m512i rest = _mm512_sub_epi32(sum, _mm512_mullo_epi32(quotient, modulus_));
        _mm256_store_si256(held, _mm512_cvtepi32_epi16(_mm512_add_epi32(rest, modulus_)));
    }

private:
    const __m512i modulus_;
    const __m512 inverse_;
};

// What the sums of a panel leave, found sixteen at a time.
class Reduction {
public:
    explicit Reduction(int modulus) : remains_(modulus) {}

    void start(const Sums& sums, std::uint16_t* residues) {
        sums_ = sums.of;
        residues_ = residues;
        left_ = residue_outputs;
        for (int i = 0; i < residue_outputs; i += 32) _mm_prefetch(residues + i, _MM_HINT_T0);
    }
    void finish() {
        while (left_ > 0) reduce_some();
    }
    [[gnu::always_inline]] void reduce_some() {
        if (left_ == 0) return;
        remains_.add(_mm512_load_si512(sums_), residues_);
        sums_ += 16;
        residues_ += 16;
        left_ -= 16;
    }

private:
    const Remains remains_;
    const int* sums_ = nullptr;
    std::uint16_t* residues_ = nullptr;
    int left_ = 0;
};

// Two tiles of `a` by two of `b`, over all steps, into tiles 0 to 3. What is left of the panel
// before is found meanwhile.
void multiply(const ResidueRun& run, const std::int8_t* a, Reduction& before) {
    const std::int8_t* b = run.b;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int i = 0; i < run.steps; ++i, a += residue_step_bytes, b += residue_step_bytes) {
        _tile_loadd(4, a, row_bytes);
        _tile_loadd(6, b, row_bytes);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, b + residue_tile_bytes, row_bytes);
        _tile_dpbssd(1, 4, 7);
        before.reduce_some();
        _tile_loadd(5, a + residue_tile_bytes, row_bytes);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
        before.reduce_some();
    }
    before.finish();
}

void run_residues(const ResidueRun& run) {
    Sums sums[2];
    configure_tiles();
    Reduction reduction(run.modulus);
    for (int i = 0; i < run.panels; ++i) {
        int* to = sums[i % 2].of;
        multiply(run, run.a + std::ptrdiff_t{i} * run.steps * residue_step_bytes, reduction);
        _tile_stored(0, to, row_bytes);
        _tile_stored(1, to + 256, row_bytes);
        _tile_stored(2, to + 512, row_bytes);
        _tile_stored(3, to + 768, row_bytes);
        reduction.start(sums[i % 2], run.residues + i * residue_outputs);
    }
    _tile_release();
    reduction.finish();
}

// Some rows of a panel of `a` by all of `b`, over all steps. `a` and `residues` are those of the
// first of these rows.
constexpr int rows_together = 8;
void multiply_rows(const ResidueRun& run, const std::int8_t* a, const Remains& remains,
                   std::uint16_t* residues) {
    const std::int8_t* b = run.b;
    __m512i left[rows_together], right[rows_together];
    for (int row = 0; row < rows_together; ++row) left[row] = right[row] = _mm512_setzero_si512();
    for (int i = 0; i < run.steps; ++i, a += residue_step_bytes, b += residue_step_bytes)
        for (int four = 0; four < row_bytes; four += 4) {
            const std::int8_t* const b_four = b + four * 16;
            const __m512i b_left = _mm512_load_si512(b_four);
            const __m512i b_right = _mm512_load_si512(b_four + residue_tile_bytes);
#pragma GCC unroll 8
            for (int row = 0; row < rows_together; ++row) {
                int word;
                __builtin_memcpy(&word, a + row * row_bytes + four, sizeof word);
                const __m512i a_four = _mm512_set1_epi32(word);
                left[row] = _mm512_dpbusd_epi32(left[row], b_left, a_four);
                right[row] = _mm512_dpbusd_epi32(right[row], b_right, a_four);
            }
        }
    for (int row = 0; row < rows_together; ++row) {
        remains.add(left[row], residues + row * 16);
        remains.add(right[row], residues + 256 + row * 16);
    }
}

static_assert(residue_output({24, 16}) == 512 + 256 + 8 * 16);
void run_residues_on_vectors(const ResidueRun& run) {
    const Remains remains(run.modulus);
    for (int i = 0; i < run.panels; ++i) {
        const std::int8_t* const panel = run.a + std::ptrdiff_t{i} * run.steps * residue_step_bytes;
        for (int row = 0; row < residue_rows; row += rows_together)
            multiply_rows(run, panel + row / 16 * residue_tile_bytes + row % 16 * row_bytes,
                          remains,
                          run.residues + i * residue_outputs + row / 16 * 512 + row % 16 * 16);
    }
}

// What a table of 256 bytes has for each code.
[[gnu::always_inline]] inline __m512i looked_up(const std::int8_t* table, __m512i codes) {
    const auto quarter = [table](int i) { return _mm512_loadu_si512(table + 64 * i); };
    const __m512i lower = _mm512_permutex2var_epi8(quarter(0), codes, quarter(1));
    const __m512i upper = _mm512_permutex2var_epi8(quarter(2), codes, quarter(3));
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(codes), upper);
}

template <int segment>
void cut_rows_of(const ResidueCut& cut) {
    const int lanes = segment != 0 ? segment : cut.segment;
    const std::uint8_t* moves = cut.moves;
    for (std::int64_t row = 0; row < cut.rows; ++row) {
        const __m512i codes = _mm512_load_si512(cut.codes + row * residue_step);
        __m512i residues = looked_up(cut.tables + *moves++ * 256, codes);
        for (int lane = lanes; lane < residue_step; lane += lanes)
            residues = _mm512_mask_mov_epi8(residues, ~std::uint64_t{0} << lane,
                                            looked_up(cut.tables + *moves++ * 256, codes));
        _mm512_store_si512(cut.to + row * residue_step, residues);
    }
}

void cut_rows(const ResidueCut& cut) {
    if (cut.segment == residue_step)
        cut_rows_of<residue_step>(cut);
    else if (cut.segment == residue_step / 2)
        cut_rows_of<residue_step / 2>(cut);
    else
        cut_rows_of<0>(cut);
}

// See nearest_zero in residue_factor.cpp.
void double_tables(const ResidueTables& tables) {
    const int modulus = tables.modulus;
    const std::int8_t* from = tables.tables;
    for (int i = 256; i < tables.count * 256; ++i, ++from) {
        const int twice = 2 * *from;
        const int less = 2 * twice >= modulus ? modulus : 0;
        const int more = 2 * twice < -modulus ? modulus : 0;
        tables.tables[i] = static_cast<std::int8_t>(twice - less + more);
    }
}

// Words of 4 bytes change their row and column: first of pairs of rows, then of fours, then whole
// quarters.
template <class Stored>
[[gnu::always_inline]] inline void transpose_tiles_as(std::int8_t* tiles, int count,
                                                      const Stored& stored) {
    for (; count > 0; --count, tiles += residue_tile_bytes) {
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
        for (int i = 0; i < 16; ++i) _mm512_store_si512(tiles + i * row_bytes, stored(t[i]));
    }
}

void make_b_tiles(std::int8_t* tiles, int count, int) {
    transpose_tiles_as(tiles, count, [](__m512i bytes) { return bytes; });
}

// Vectors multiply signed bytes by bytes without a sign: negative residues of `b` are made
// positive.
void make_unsigned_b_tiles(std::int8_t* tiles, int count, int modulus) {
    const __m512i more = _mm512_set1_epi8(static_cast<char>(modulus));
    transpose_tiles_as(tiles, count, [more](__m512i bytes) {
        return _mm512_mask_add_epi8(bytes, _mm512_movepi8_mask(bytes), bytes, more);
    });
}

// Whatever the intrinsics multiply has 52 bits at most: a residue has 9, and so have all wraps.
static_assert(9 + level_bits <= 52 && 9 + fraction_bits - 6 <= 52);
static_assert(moduli_max * 512 / least_modulus < 512);

// Eight sums from `first` on.
void join_eight(const ResidueJoin& join, int first) {
    const __m512i mask = _mm512_set1_epi64((std::int64_t{1} << level_bits) - 1);
    const auto constant = [](std::uint64_t number) {
        return _mm512_set1_epi64(static_cast<long long>(number));
    };
    __m512i residues[moduli_max];
    __m512i wraps = constant(std::uint64_t{1} << (fraction_bits - 1));
    for (int i = 0; i < join.moduli; ++i) {
        const std::uint16_t* from = join.residues + i * join.stride + first;
        residues[i] = _mm512_cvtepu16_epi64(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
        wraps = _mm512_madd52lo_epu64(wraps, residues[i], constant(join.weights[i].fraction));
    }
    wraps = _mm512_srli_epi64(wraps, fraction_bits);
    __m512i sum = _mm512_setzero_si512();
    for (int level = 0; level < join.levels; ++level) {
        for (int i = 0; i < join.moduli; ++i)
            sum = _mm512_madd52lo_epu64(sum, residues[i], constant(join.weights[i].digits[level]));
        sum = _mm512_sub_epi64(sum, _mm512_madd52lo_epu64(_mm512_setzero_si512(), wraps,
                                                          constant(join.product[level])));
        // Of the highest the top bit of its level_bits is the sign of all.
        constexpr int above = 64 - level_bits;
        const __m512i digit = level + 1 == join.levels
                                  ? _mm512_srai_epi64(_mm512_slli_epi64(sum, above), above)
                                  : _mm512_and_si512(sum, mask);
        _mm512_store_si512(join.digits + level * residue_outputs + first, digit);
        sum = _mm512_srai_epi64(sum, level_bits);
    }
}

void join_residues(const ResidueJoin& join) {
    for (int first = 0; first < residue_outputs; first += 8) join_eight(join, first);
}

}  // namespace

const ResidueLoops amx_residues{
    {.doubles_once = 64, .doubles_twice = 64, .rounded = 21, .open_output = 80},
    run_residues,
    double_tables,
    cut_rows,
    make_b_tiles,
    join_residues};
// Where doubles sum once they are the quicker, but for scales so near that few would gain.
const ResidueLoops vnni_residues{
    {.doubles_once = 0, .doubles_twice = 40, .rounded = 10, .open_output = 30},
    run_residues_on_vectors,
    double_tables,
    cut_rows,
    make_unsigned_b_tiles,
    join_residues};

}  // namespace mx::gemm
