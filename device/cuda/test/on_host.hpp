// A job done on the host by the functions that the general kernels call, one item after the other;
// and, where a rule of a RealScaleJob has a kernel of its own, by the arithmetic of that one. Used
// by tests.
#pragma once

#include <cstdint>

#include "device/cuda/blocks.cuh"
#include "device/cuda/nvfp4.cuh"
#include "device/cuda/real_scale_blocks.cuh"

namespace mx::cuda::test {

template <typename Action>
void for_each_cell_of(Extent grid, Action action) {
    for (std::int64_t line = 0; line < grid.lines; ++line)
        for (std::int64_t lane = 0; lane < grid.lanes; ++lane) action(Extent{line, lane});
}

inline std::uint32_t amax_on_host(const RealScaleJob& job) {
    std::uint32_t amax = 0;
    for_each_cell_of(run_grid(job),
                     [&](Extent run) { amax = larger_bits(amax, amax_of_run(job, run)); });
    return amax;
}

// A whole block of 16 as nvfp4_rows.cu does it, though its bytes may lie anywhere.
template <ValueType type>
void quantize_nvfp4_block(const RealScaleJob& job, const BlockSetting& setting, Extent cell) {
    const RealBlock block = real_block_at(job, cell);
    std::uint32_t words[nvfp4_words<type>];
    for (int i = 0; i < nvfp4_words<type>; ++i) {
        words[i] = 0;
        for (int j = 0; j < per_word<type>; ++j) {
            const Extent at = cell_in(block, i * per_word<type> + j);
            words[i] |= load_value<type>(byte_of(job.values, at, width_of(type))) << (16 * j);
        }
    }
    const Nvfp4Codes codes = nvfp4_codes<type>(setting, words);
    job.scales.plane.data[place_of(job.scales, cell)] = codes.scale;
    for (int i = 0; i < 16; ++i) {
        const std::uint32_t word = i < 8 ? codes.low : codes.high;
        store_code(job.codes, cell_in(block, i),
                   static_cast<std::uint8_t>(word >> (4 * (i % 8)) & 0xF));
    }
}

inline bool has_own_arithmetic(const RealScaleJob& job) {
    return job.element == Element::e2m1 && job.block.lines == 1 &&
           job.value_type != ValueType::f16 && job.extent.lanes % 16 == 0 &&
           find_nvfp4_rule(job.rule) != Nvfp4Rule::none;
}

enum class Arithmetic { general, of_fast_kernels };

inline void quantize_on_host(const RealScaleJob& job, Arithmetic arithmetic) {
    const bool needs_amax = job.source == NumberSource::derived || is_whole_tensor(job);
    const std::uint32_t amax = needs_amax ? amax_on_host(job) : 0;
    const BlockSetting setting = setting_of(job, amax);
    store_kept(job, setting);
    for_each_cell_of(padded_grid(job), [&](Extent cell) { clear_if_pad(job, cell); });
    if (is_whole_tensor(job)) return encode(job, setting, real_block_at(job, {0, 0}), amax, {0, 1});
    if (arithmetic == Arithmetic::general || !has_own_arithmetic(job))
        return for_each_cell_of(item_grid(job),
                                [&](Extent item) { quantize_item(job, setting, item); });
    // Two lines may share bytes, so lines first.
    for_each_cell_of({job.extent.lanes / 16, job.extent.lines}, [&](Extent turned) {
        const Extent cell{turned.lanes, turned.lines};
        if (job.value_type == ValueType::f32)
            quantize_nvfp4_block<ValueType::f32>(job, setting, cell);
        else
            quantize_nvfp4_block<ValueType::bf16>(job, setting, cell);
    });
}

inline void dequantize_on_host(const RealScaleJob& job) {
    for_each_cell_of(job.extent, [&](Extent cell) { dequantize_element(job, cell); });
}

inline void quantize_on_host(const BlockJob& job) {
    const Extent grid = block_grid(job);
    for_each_cell_of(padded_grid(job.scales, grid),
                     [&](Extent cell) { clear_if_pad(job.scales, grid, cell); });
    for_each_cell_of(grid, [&](Extent cell) { quantize_block(job, cell); });
}

inline void dequantize_on_host(const BlockJob& job) {
    for_each_cell_of(job.extent, [&](Extent cell) { dequantize_element(job, cell); });
}

}  // namespace mx::cuda::test
