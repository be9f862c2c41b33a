// One block or one element of a BlockJob, wherever its bytes lie: what the general kernels do in a
// thread, and what a host does one after the other. Nothing is taken for aligned.
#pragma once

#include <cstdint>

#include "device/cuda/element.cuh"
#include "device/cuda/scale.cuh"
#include "device/cuda/values.cuh"

namespace mx::cuda {

template <ValueType type>
MX_CUDA_BOTH std::uint32_t value_at(const Plane& values, Extent cell) {
    return load_value<type>(byte_of(values, cell, width_of(type)));
}

template <ValueType type>
MX_CUDA_BOTH void store_value(const Plane& values, Extent cell, float value) {
#if defined(__CUDA_ARCH__)
    const std::uint32_t bits = packed_values<type>(value, 0.0f);
#else
    const std::uint32_t bits = output_bits(type, value);
#endif
    store_bits(byte_of(values, cell, width_of(type)), bits, width_of(type));
}

// The lines and lanes of one block.
struct Block {
    Extent first;
    Extent end;
};
MX_CUDA_BOTH inline Block block_at(const BlockJob& job, Extent cell) {
    Block block{{cell.lines * job.block.lines, cell.lanes * job.block.lanes}, {}};
    block.end = {smaller(block.first.lines + job.block.lines, job.extent.lines),
                 smaller(block.first.lanes + job.block.lanes, job.extent.lanes)};
    return block;
}

template <typename Action>
MX_CUDA_BOTH void for_each_cell(const Block& block, Action action) {
    for (std::int64_t line = block.first.lines; line < block.end.lines; ++line)
        for (std::int64_t lane = block.first.lanes; lane < block.end.lanes; ++lane)
            action(Extent{line, lane});
}

MX_CUDA_BOTH inline Extent block_grid(const BlockJob& job) {
    return {(job.extent.lines + job.block.lines - 1) / job.block.lines,
            (job.extent.lanes + job.block.lanes - 1) / job.block.lanes};
}

template <ValueType type>
MX_CUDA_BOTH void quantize_block_of(const BlockJob& job, Extent cell) {
    const Encoding how{grid_of(job.recipe.element), job.recipe.nan_code, Overflow::saturate};
    const bool skips_nan = job.recipe.rule.nan_policy == NanPolicy::own_lane;
    const Block block = block_at(job, cell);
    std::uint32_t amax = 0;
    for_each_cell(block, [&](Extent at) {
        const std::uint32_t value = magnitudes<type>(value_at<type>(job.values, at));
        amax = larger_bits(amax, skips_nan ? without_nan<type>(value) : value);
    });
    const std::uint8_t scale = scale_of(job.recipe.rule, f32_bits<type>(amax));
    const float factor = factor_of(scale);
    job.scales.data[place_of(job.scales, cell)] = scale;
    for_each_cell(block, [&](Extent at) {
        const float value = value_of<type>(value_at<type>(job.values, at), 0);
        *byte_of(job.codes, at, 1) = element_code(how, product(value, factor));
    });
}

template <ValueType type>
MX_CUDA_BOTH void dequantize_element_of(const BlockJob& job, Extent at) {
    const Extent block{at.lines / job.block.lines, at.lanes / job.block.lanes};
    const float scale = value_of_scale(job.scales.data[place_of(job.scales, block)]);
    const float element = element_value(grid_of(job.recipe.element), *byte_of(job.codes, at, 1));
    store_value<type>(job.values, at, product(element, scale));
}

// For callers that have the type of the values in the job alone.
MX_CUDA_BOTH inline void quantize_block(const BlockJob& job, Extent cell) {
    if (job.recipe.value_type == ValueType::f32)
        return quantize_block_of<ValueType::f32>(job, cell);
    if (job.recipe.value_type == ValueType::f16)
        return quantize_block_of<ValueType::f16>(job, cell);
    quantize_block_of<ValueType::bf16>(job, cell);
}
MX_CUDA_BOTH inline void dequantize_element(const BlockJob& job, Extent at) {
    if (job.recipe.value_type == ValueType::f32)
        return dequantize_element_of<ValueType::f32>(job, at);
    if (job.recipe.value_type == ValueType::f16)
        return dequantize_element_of<ValueType::f16>(job, at);
    dequantize_element_of<ValueType::bf16>(job, at);
}

// Of scales in tiles the grid with its pads; of others an empty one.
MX_CUDA_BOTH inline Extent padded_grid(const ScalePlane& scales, Extent grid) {
    if (scales.order == ScaleOrder::strided) return {0, 0};
    return {(grid.lines + 127) / 128 * 128, scales.tiles_across * 4};
}
MX_CUDA_BOTH inline void clear_if_pad(const ScalePlane& scales, Extent grid, Extent cell) {
    if (cell.lines >= grid.lines || cell.lanes >= grid.lanes)
        scales.data[place_of(scales, cell)] = 0;
}

}  // namespace mx::cuda
