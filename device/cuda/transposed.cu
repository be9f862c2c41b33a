// Quantizing FP8 in whole blocks of 32 across the memory of the values, with codes that lie along
// theirs: down the columns of a tensor, which are the lines here, each column's codes side by side.
// A thread loads as in columns.cu and has 32 codes of each of its columns; codes and scales cross
// shared memory, so that neighbours store neighbouring bytes of a line.
#include <cstdint>

#include "device/cuda/columns.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int words = transposed_bytes / 4;
template <ValueType type>
constexpr int columns_in = values_in<type, words>;

// The warps of a thread block lie below one another, each with a block of 32 rows. So do thread
// blocks that follow one another: of 354 forms on an H200 this one was the fastest, and 2 % faster
// than side by side.
constexpr int down = 8;
constexpr int tile_threads = down * warp_lanes;
constexpr int resident_blocks = 2;  // on a multiprocessor: all registers, and nothing is spilled
template <ValueType type>
constexpr int tile_lines = warp_lanes* columns_in<type>;

// Codes in chunks of 16 bytes, two to a block; scales in words of four.
constexpr int chunk_bytes = 16;
constexpr int block_chunks = 2;
constexpr int line_chunks = down * block_chunks;
constexpr int scale_word = 4;
constexpr int line_words = down / scale_word;
static_assert(line_chunks % 8 == 0 && down % scale_word == 0);

template <ValueType type>
struct Tile {
    uint4 codes[tile_lines<type>][line_chunks];
    alignas(scale_word) std::uint8_t scales[tile_lines<type>][down];
};

// Where a line has a chunk: so that eight threads meet all banks, those that write the same chunk
// of the lines that follow one another in a warp and those that read the chunks of one line.
template <ValueType type>
__device__ int place_in_line(int line, int chunk) {
    return chunk ^ (line / columns_in<type> % 8);
}

// Whether four scales of a line, from a fourth block on, are one aligned word.
enum class ScaleStores { bytes, words };

ScaleStores scale_stores(const ScalePlane& scales) {
    const auto address = reinterpret_cast<std::uintptr_t>(scales.data);
    const bool tiles = scales.order == ScaleOrder::tiles_128x4;
    const bool in_words =
        tiles || (scales.block_stride == 1 && scales.line_stride % scale_word == 0);
    return in_words && address % scale_word == 0 && scales.first_block % scale_word == 0
               ? ScaleStores::words
               : ScaleStores::bytes;
}

// Four codes of a column.
template <ValueType type, Element element>
__device__ std::uint32_t codes_down(const ColumnRows<words>& rows, Extent first, float factor) {
    const auto value = [&](std::int64_t row) {
        const std::uint32_t word = rows[first.lanes + row].words[first.lines / per_word<type>];
        return value_of<type>(word, static_cast<int>(first.lines % per_word<type>)) * factor;
    };
    return fp8_pair<element>(value(0), value(1)) | fp8_pair<element>(value(2), value(3)) << 16;
}

// A thread's columns, from the cell's line of the tile on, in the cell's block.
template <ValueType type, Element element>
__device__ void quantize_into(Tile<type>& tile, Extent cell, const ColumnRows<words>& rows,
                              const ScaleRule& rule) {
    const Part<words> amax = column_amax<type, words>(rule.nan_policy, rows);
#pragma unroll
    for (int i = 0; i < columns_in<type>; ++i) {
        const int line = static_cast<int>(cell.lines) + i;
        const int block = static_cast<int>(cell.lanes);
        const std::uint8_t scale = column_scale<type, words>(rule, amax, i);
        const float factor = factor_of(scale);
        tile.scales[line][block] = scale;
#pragma unroll
        for (int chunk = 0; chunk < block_chunks; ++chunk) {
            const auto quad = [&](int j) {
                return codes_down<type, element>(rows, {i, chunk * chunk_bytes + j * 4}, factor);
            };
            tile.codes[line][place_in_line<type>(line, block * block_chunks + chunk)] =
                uint4{quad(0), quad(1), quad(2), quad(3)};
        }
    }
}

// The tile's first line and block, and from there what is left of the job.
struct Corner {
    Extent first;
    Extent left;
};

template <ValueType type>
__device__ void store_tile_codes(const BlockJob& job, const Corner& corner,
                                 const Tile<type>& tile) {
    std::uint8_t* codes = job.codes.data + corner.first.lines * job.codes.line_stride +
                          corner.first.lanes * block_lanes;
    constexpr int items = tile_lines<type> * line_chunks;
#pragma unroll
    for (int item = static_cast<int>(threadIdx.x); item < items; item += tile_threads) {
        const int line = item / line_chunks, chunk = item % line_chunks;
        if (line < corner.left.lines && chunk < corner.left.lanes * block_chunks)
            store(codes + line * job.codes.line_stride + chunk * chunk_bytes,
                  tile.codes[line][place_in_line<type>(line, chunk)]);
    }
}

template <ValueType type>
__device__ void store_tile_scales(const BlockJob& job, const Corner& corner, const Tile<type>& tile,
                                  ScaleStores stores) {
    constexpr int items = tile_lines<type> * line_words;
    // Neighbours have words of one line, or else neighbouring lines.
    const bool along_line = stores == ScaleStores::words;
    for (int item = static_cast<int>(threadIdx.x); item < items; item += tile_threads) {
        const int line = along_line ? item / line_words : item % tile_lines<type>;
        const int word = along_line ? item % line_words : item / tile_lines<type>;
        const int block = word * scale_word;
        if (line >= corner.left.lines) continue;
        const std::uint8_t* from = &tile.scales[line][block];
        const Extent cell{corner.first.lines + line, corner.first.lanes + block};
        if (along_line && block + scale_word <= corner.left.lanes) {
            store(job.scales.data + place_of(job.scales, cell),
                  *reinterpret_cast<const std::uint32_t*>(from));
            continue;
        }
        for (int i = 0; i < scale_word && block + i < corner.left.lanes; ++i)
            job.scales.data[place_of(job.scales, {cell.lines, cell.lanes + i})] = from[i];
    }
}

template <ValueType type, Element element>
__global__ void __launch_bounds__(tile_threads, resident_blocks)
    quantize_tile(BlockJob job, ScaleStores stores) {
    __shared__ Tile<type> tile;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const Extent cell{lane * columns_in<type>, static_cast<int>(threadIdx.x) / warp_lanes};
    const Extent first{static_cast<std::int64_t>(blockIdx.y) * tile_lines<type>,
                       static_cast<std::int64_t>(blockIdx.x) * down};
    const Corner corner{
        first, {job.extent.lines - first.lines, job.extent.lanes / block_lanes - first.lanes}};
    if (cell.lines < corner.left.lines && cell.lanes < corner.left.lanes) {
        const std::int64_t step = job.values.lane_stride * width_of(type);
        const std::int64_t row = (first.lanes + cell.lanes) * block_lanes;
        ColumnRows<words> rows;
        load_rows<words>(job.values.data + row * step + (first.lines + cell.lines) * width_of(type),
                         step, rows);
        quantize_into<type, element>(tile, cell, rows, job.recipe.rule);
    }
    __syncthreads();
    store_tile_codes<type>(job, corner, tile);
    store_tile_scales<type>(job, corner, tile, stores);
}

template <ValueType type, Element element>
void start_tiles(const BlockJob& job, cudaStream_t stream) {
    const std::int64_t groups = (job.extent.lanes / block_lanes + down - 1) / down;
    const std::int64_t tiles = (job.extent.lines + tile_lines<type> - 1) / tile_lines<type>;
    const dim3 grid(static_cast<unsigned>(groups), static_cast<unsigned>(tiles));
    quantize_tile<type, element><<<grid, tile_threads, 0, stream>>>(job, scale_stores(job.scales));
}

// As many lines at once as a grid takes.
template <ValueType type>
void start(BlockJob job, cudaStream_t stream) {
    constexpr std::int64_t most = grid_y_max * tile_lines<type>;
    for (std::int64_t left = job.extent.lines; left > 0; left -= most) {
        job.extent.lines = left < most ? left : most;
        if (job.recipe.element == Element::e4m3) start_tiles<type, Element::e4m3>(job, stream);
        if (job.recipe.element == Element::e5m2) start_tiles<type, Element::e5m2>(job, stream);
        job.values.data += most * width_of(type);
        job.codes.data += most * job.codes.line_stride;
        job.scales.first_line += most;
    }
}

}  // namespace

cudaError_t quantize_transposed(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
