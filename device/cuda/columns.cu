// Quantizing FP8 in whole blocks of 32 across memory: down the columns of a tensor, which are the
// lines here. A thread takes one word of each of 32 memory rows, all before the first use, so that
// a block's amax needs no other thread.
#include "device/cuda/columns.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int words = column_bytes / 4;
template <ValueType type>
constexpr int columns_in = values_in<type, words>;

// Writes the scales and returns their factors. A cell's line is the first column.
template <ValueType type>
__device__ Factors<type, words> make_scales(const BlockJob& job, Extent cell,
                                            const Part<words>& amax) {
    Factors<type, words> factors;
#pragma unroll
    for (int i = 0; i < columns_in<type>; ++i) {
        const std::uint8_t scale = column_scale<type, words>(job.recipe.rule, amax, i);
        factors.by_value[i] = factor_of(scale);
        job.scales.data[place_of(job.scales, {cell.lines + i, cell.lanes})] = scale;
    }
    return factors;
}

template <ValueType type, Element element>
__global__ void __launch_bounds__(threads_per_block)
    quantize_strips(BlockJob job, int across_log2) {
    const WarpPlace place = warp_place(across_log2);
    const std::int64_t column = (place.strip * warp_lanes + place.lane) * columns_in<type>;
    if (column >= job.extent.lines) return;
    const std::int64_t step = job.values.lane_stride * width_of(type);
    const std::int64_t blocks = job.extent.lanes / block_lanes;
    for (std::int64_t block = place.line; block < blocks; block += place.line_step) {
        const std::int64_t first = block * block_lanes;
        const std::uint8_t* values = job.values.data + first * step + column * width_of(type);
        std::uint8_t* codes = job.codes.data + first * job.codes.lane_stride + column;
        ColumnRows<words> rows;
        load_rows<words>(values, step, rows);
        const Part<words> amax = column_amax<type, words>(job.recipe.rule.nan_policy, rows);
        const Factors<type, words> factors = make_scales<type>(job, {column, block}, amax);
#pragma unroll
        for (const Part<words>& row : rows) {
            store_codes<type, element>(codes, row, factors);
            codes += job.codes.lane_stride;
        }
    }
}

template <ValueType type>
void start(const BlockJob& job, cudaStream_t stream) {
    constexpr std::int64_t warp_columns = columns_in<type> * warp_lanes;
    const Tiling tiling = tiling_of(
        {job.extent.lanes / block_lanes, (job.extent.lines + warp_columns - 1) / warp_columns});
    if (job.recipe.element == Element::e4m3)
        quantize_strips<type, Element::e4m3>
            <<<tiling.grid, threads_per_block, 0, stream>>>(job, tiling.across_log2);
    else
        quantize_strips<type, Element::e5m2>
            <<<tiling.grid, threads_per_block, 0, stream>>>(job, tiling.across_log2);
}

}  // namespace

cudaError_t quantize_columns(const BlockJob& job, cudaStream_t stream) {
    if (job.recipe.value_type == ValueType::f32) start<ValueType::f32>(job, stream);
    if (job.recipe.value_type == ValueType::bf16) start<ValueType::bf16>(job, stream);
    if (job.recipe.value_type == ValueType::f16) start<ValueType::f16>(job, stream);
    return cudaGetLastError();
}

}  // namespace mx::cuda
