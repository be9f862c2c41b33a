// Quantizing FP8 along rows and down columns from one read of the input. The four warps of a thread
// block have 8 rows each of a tile of 32 rows, and a thread 16 bytes of each row.
//
// A row's block of 32 lies in neighbouring threads: in each exchange a thread gives away its maxima
// of half of the rows and gets others for the rest, until it has the amax of one or two rows,
// whole. A column's block lies in the four warps, which meet in shared memory. So each scale is
// made once, and its factor goes to the others through shared memory.
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int words = 4;
constexpr int tile_warps = 4;
constexpr int tile_threads = tile_warps * warp_lanes;
// On a multiprocessor. With 6 some registers would be spilled, which cost up to a sixth of the
// speed on an H200.
constexpr int resident_blocks = 5;
constexpr int warp_rows = block_lanes / tile_warps;
constexpr int tile_words = words * warp_lanes;
static_assert(tile_words == tile_threads, "a thread makes the scales of a word of columns");

template <ValueType type>
constexpr int columns_in = values_in<type, words>;
template <ValueType type>
constexpr int tile_columns = columns_in<type>* warp_lanes;
// Threads that share a row's block, and blocks in a row of the tile.
template <ValueType type>
constexpr int sharers = block_lanes / columns_in<type>;
template <ValueType type>
constexpr int row_blocks = warp_lanes / sharers<type>;

template <ValueType type>
struct Shared {
    std::uint32_t amax[tile_warps][tile_words];       // of each warp's rows of the columns
    alignas(16) float by_column[tile_columns<type>];  // factors
    alignas(16) float by_row[tile_warps][row_blocks<type>][warp_rows];
};

// The largest magnitudes of a thread's rows, one or two to a word, and of its columns.
template <ValueType type>
struct Maxima {
    std::uint32_t rows[warp_rows / per_word<type>];
    Part<words> columns;
};

// Of two words of 16 bits the larger halves, those of `first` in the low half; of words of 32 bits
// there is but one.
template <ValueType type>
__device__ std::uint32_t folded_pair(std::uint32_t first, std::uint32_t second) {
    if (type == ValueType::f32) return first;
    return __vmaxu2(__byte_perm(first, second, 0x5410), __byte_perm(first, second, 0x7632));
}

enum class Nan { counts, is_left_out };

template <ValueType type, Nan nan>
__device__ void find_maxima(const Part<words> (&rows)[warp_rows], Maxima<type>& maxima) {
    constexpr int each = per_word<type>;
    maxima.columns = {};
#pragma unroll
    for (int i = 0; i < warp_rows; i += each) {
        std::uint32_t largest[each];
#pragma unroll
        for (int j = 0; j < each; ++j) {
            Part<words> row = magnitudes<type>(rows[i + j]);
            if (nan == Nan::is_left_out) row = without_nan<type>(row);
            maxima.columns = larger<type>(maxima.columns, row);
            largest[j] = larger_word<type>(row);
        }
        maxima.rows[i / each] = folded_pair<type>(largest[0], largest[each - 1]);
    }
}

// Each step halves the rows that a thread has maxima of, and doubles the columns they are of. What
// is left is the word of rows whose number is that of the thread among the sharers.
template <ValueType type>
__device__ std::uint32_t exchanged(const Maxima<type>& maxima) {
    constexpr int all = warp_rows / per_word<type>;
    static_assert(all == sharers<type>);
    std::uint32_t left[all];
#pragma unroll
    for (int i = 0; i < all; ++i) left[i] = maxima.rows[i];
#pragma unroll
    for (int apart = all / 2; apart > 0; apart /= 2) {
        const bool keeps_upper = (threadIdx.x & apart) != 0;
#pragma unroll
        for (int i = 0; i < apart; ++i) {
            const std::uint32_t kept = keeps_upper ? left[i + apart] : left[i];
            const std::uint32_t given = keeps_upper ? left[i] : left[i + apart];
            left[i] = larger<type>(kept, __shfl_xor_sync(0xFFFFFFFFu, given, apart));
        }
    }
    return left[0];
}

// Row and column of a thread's first value.
struct Corner {
    std::int64_t row;
    std::int64_t column;
};

template <ValueType type>
__device__ void make_row_scales(const BlockJob& job, Corner corner, std::uint32_t amax,
                                float (&factors)[warp_rows]) {
    const int first = static_cast<int>(threadIdx.x) % sharers<type> * per_word<type>;
#pragma unroll
    for (int i = 0; i < per_word<type>; ++i) {
        const std::uint8_t scale =
            scale_of(job.recipe.rule, f32_bits<type>(lane_of<type>(amax, i)));
        factors[first + i] = factor_of(scale);
        if (corner.column < job.extent.lanes)
            job.scales
                .data[place_of(job.scales, {corner.row + first + i, corner.column / block_lanes})] =
                scale;
    }
}

// One word of columns, whichever thread it was loaded by.
template <ValueType type>
__device__ void make_column_scales(const BothJob& job, Corner tile, Shared<type>& shared) {
    std::uint32_t amax = 0;
#pragma unroll
    for (int i = 0; i < tile_warps; ++i) amax = larger<type>(amax, shared.amax[i][threadIdx.x]);
#pragma unroll
    for (int i = 0; i < per_word<type>; ++i) {
        const int column = static_cast<int>(threadIdx.x) * per_word<type> + i;
        const std::uint8_t scale =
            scale_of(job.rows.recipe.rule, f32_bits<type>(lane_of<type>(amax, i)));
        shared.by_column[column] = factor_of(scale);
        if (tile.column + column < job.rows.extent.lanes)
            job.column_scales
                .data[place_of(job.column_scales, {tile.column + column, tile.row / block_lanes})] =
                scale;
    }
}

template <ValueType type, Element element>
__device__ void store_both(const BothJob& job, Corner corner, const Part<words> (&rows)[warp_rows],
                           const float* by_column, const float (&by_row)[warp_rows]) {
    const std::int64_t row_step = job.rows.codes.line_stride;
    const std::int64_t column_step = job.column_codes.line_stride;
    std::uint8_t* row_codes = job.rows.codes.data + corner.row * row_step + corner.column;
    std::uint8_t* column_codes = job.column_codes.data + corner.row * column_step + corner.column;
    Factors<type, words> down;
#pragma unroll
    for (int i = 0; i < columns_in<type>; ++i) down.by_value[i] = by_column[i];
#pragma unroll
    for (int i = 0; i < warp_rows; ++i) {
        Factors<type, words> across;
#pragma unroll
        for (float& factor : across.by_value) factor = by_row[i];
        store_codes<type, element>(row_codes, rows[i], across);
        store_codes<type, element>(column_codes, rows[i], down);
        row_codes += row_step;
        column_codes += column_step;
    }
}

template <ValueType type, Element element>
__global__ void __launch_bounds__(tile_threads, resident_blocks) quantize_tiles(BothJob job) {
    __shared__ Shared<type> shared;
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const std::int64_t tile_column = static_cast<std::int64_t>(blockIdx.x) * tile_columns<type>;
    const std::int64_t column = tile_column + lane * columns_in<type>;
    const bool inside = column < job.rows.extent.lanes;
    const NanPolicy policy = job.rows.recipe.rule.nan_policy;
    const std::int64_t step = job.rows.values.line_stride * width_of(type);
    float(&by_row)[warp_rows] = shared.by_row[warp][lane / sharers<type>];
    const std::int64_t blocks = job.rows.extent.lines / block_lanes;
    for (std::int64_t block = blockIdx.y; block < blocks; block += gridDim.y) {
        const Corner tile{block * block_lanes, tile_column};
        const Corner corner{tile.row + warp * warp_rows, column};
        const std::uint8_t* at = job.rows.values.data + corner.row * step + column * width_of(type);
        Part<words> rows[warp_rows] = {};
#pragma unroll
        for (int i = 0; i < warp_rows; ++i)
            if (inside) load(at + i * step, rows[i]);
        Maxima<type> maxima;
        find_maxima<type, Nan::counts>(rows, maxima);
        if (policy == NanPolicy::own_lane && has_nan<type>(maxima.columns))
            find_maxima<type, Nan::is_left_out>(rows, maxima);
#pragma unroll
        for (int i = 0; i < words; ++i)
            shared.amax[warp][lane * words + i] = maxima.columns.words[i];
        __syncthreads();
        make_row_scales<type>(job.rows, corner, exchanged<type>(maxima), by_row);
        make_column_scales<type>(job, tile, shared);
        __syncthreads();
        if (inside)
            store_both<type, element>(job, corner, rows, &shared.by_column[lane * columns_in<type>],
                                      by_row);
    }
}

template <ValueType type>
void start(const BothJob& job, cudaStream_t stream) {
    const Extent extent = job.rows.extent;
    const std::int64_t blocks = extent.lines / block_lanes;
    const dim3 grid(
        static_cast<unsigned>((extent.lanes + tile_columns<type> - 1) / tile_columns<type>),
        static_cast<unsigned>(blocks < grid_y_max ? blocks : grid_y_max));
    if (job.rows.recipe.element == Element::e4m3)
        quantize_tiles<type, Element::e4m3><<<grid, tile_threads, 0, stream>>>(job);
    else
        quantize_tiles<type, Element::e5m2><<<grid, tile_threads, 0, stream>>>(job);
}

}  // namespace

cudaError_t quantize_both_at_once(const BothJob& job, cudaStream_t stream) {
    if (job.rows.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.rows.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.rows.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
