// One block, one element or one run of a RealScaleJob, wherever its bytes lie: what the general
// kernels do in a thread, and what a host does one after the other. Nothing is taken for aligned.
#pragma once

#include <cstdint>

#include "device/cuda/real_scale.cuh"
#include "device/cuda/rotation.cuh"
#include "device/cuda/values.cuh"

namespace mx::cuda {

MX_CUDA_BOTH inline std::uint32_t load_word(const std::uint8_t* at) {
    return load_value<ValueType::f32>(at);
}

MX_CUDA_BOTH inline float load_element(const RealScaleJob& job, Extent cell) {
    const std::uint8_t* at = byte_of(job.values, cell, width_of(job.value_type));
    if (job.value_type == ValueType::f32)
        return value_of<ValueType::f32>(load_value<ValueType::f32>(at), 0);
    if (job.value_type == ValueType::bf16)
        return value_of<ValueType::bf16>(load_value<ValueType::bf16>(at), 0);
    return value_of<ValueType::f16>(load_value<ValueType::f16>(at), 0);
}

MX_CUDA_BOTH inline void store_element(const RealScaleJob& job, Extent cell, float value) {
    const int width = width_of(job.value_type);
    store_bits(byte_of(job.values, cell, width), output_bits(job.value_type, value), width);
}

// The first of the two in a byte clears the other, so one thread writes both, one after the other.
MX_CUDA_BOTH inline void store_code(const CodePlane& codes, Extent cell, std::uint8_t code) {
    const CodePlace place = place_of(codes, cell);
    const auto shifted = static_cast<std::uint8_t>(code << place.shift);
    *place.byte = place.is_second ? static_cast<std::uint8_t>(*place.byte | shifted) : shifted;
}
MX_CUDA_BOTH inline std::uint8_t load_code(const CodePlane& codes, Extent cell) {
    const CodePlace place = place_of(codes, cell);
    if (codes.order == CodeOrder::bytes) return *place.byte;
    return static_cast<std::uint8_t>(*place.byte >> place.shift & 0xF);
}

MX_CUDA_BOTH inline float load_scale(const RealScalePlane& scales, Extent cell) {
    const std::int64_t place = place_of(scales, cell);
    if (scales.is_f32) return float_of(load_word(scales.plane.data + place * 4));
    return e4m3_number(scales.plane.data[place]);
}
MX_CUDA_BOTH inline void store_scale(const BlockSetting& setting, const RealScalePlane& scales,
                                     Extent cell, const BlockScale& scale) {
    const std::int64_t place = place_of(scales, cell);
    if (scales.is_f32)
        store_bits(scales.plane.data + place * 4, bits_of(stored_number(setting, scale)), 4);
    else
        scales.plane.data[place] = scale.code;
}

// Of scales in tiles whose pads are 0 the grid with its pads; of others an empty one.
MX_CUDA_BOTH inline Extent padded_grid(const RealScaleJob& job) {
    const bool is_128x4 = job.scales.plane.order == ScaleOrder::tiles_128x4;
    if (!is_128x4 && job.scales.tiles != TileOrder::tiles_8x4) return {0, 0};
    const std::int64_t tile = is_128x4 ? 128 : 8;
    return {(block_grid(job).lines + tile - 1) / tile * tile, job.scales.plane.tiles_across * 4};
}
MX_CUDA_BOTH inline void clear_if_pad(const RealScaleJob& job, Extent cell) {
    const Extent grid = block_grid(job);
    if (cell.lines >= grid.lines || cell.lanes >= grid.lanes)
        job.scales.plane.data[place_of(job.scales, cell)] = 0;
}

// The lines and lanes of one block.
struct RealBlock {
    Extent cell;  // in the grid of blocks
    Extent first;
    Extent size;
};
MX_CUDA_BOTH inline RealBlock real_block_at(const RealScaleJob& job, Extent cell) {
    if (is_whole_tensor(job)) return {cell, {0, 0}, job.extent};
    const Extent first{cell.lines * job.block.lines, cell.lanes * job.block.lanes};
    return {cell,
            first,
            {smaller(job.block.lines, job.extent.lines - first.lines),
             smaller(job.block.lanes, job.extent.lanes - first.lanes)}};
}
MX_CUDA_BOTH inline Extent cell_in(const RealBlock& block, std::int64_t index) {
    return {block.first.lines + index / block.size.lanes,
            block.first.lanes + index % block.size.lanes};
}

// A magnitude for an amax, as bits, which are compared as integers: a NaN is above everything.
MX_CUDA_BOTH inline std::uint32_t amax_bits(NanInAmax rule, float value) {
    const std::uint32_t bits = bits_of(value) & 0x7FFFFFFFu;
    return rule == NanInAmax::left_out && bits > f32_infinity ? 0 : bits;
}

// Threads that share a block: each takes every `step`-th element.
struct Team {
    std::int64_t rank, step;
};

// Of elements as they lie in memory.
MX_CUDA_BOTH inline std::uint32_t amax_of(const RealScaleJob& job, const RealBlock& block,
                                          Team team) {
    std::uint32_t amax = 0;
    const std::int64_t count = block.size.lines * block.size.lanes;
    for (std::int64_t i = team.rank; i < count; i += team.step)
        amax = larger_bits(amax,
                           amax_bits(job.rule.nan_in_amax, load_element(job, cell_in(block, i))));
    return amax;
}

// Of a block that is no group of rotated elements.
MX_CUDA_BOTH inline void encode(const RealScaleJob& job, const BlockSetting& setting,
                                const RealBlock& block, std::uint32_t amax, Team team) {
    const BlockScale scale = scale_from_ratio(setting, ratio_of_block(setting, float_of(amax)));
    if (team.rank == 0) store_scale(setting, job.scales, block.cell, scale);
    const Encoding how = encoding_of(setting);
    const std::int64_t count = block.size.lines * block.size.lanes;
    for (std::int64_t i = team.rank; i < count; i += team.step) {
        const Extent cell = cell_in(block, i);
        const std::uint32_t random = how.rounding == ElementRounding::stochastic8
                                         ? load_word(byte_of(job.random, cell, 4))
                                         : 0;
        store_code(job.codes, cell,
                   element_code(how, scaled(job.rule, scale, load_element(job, cell)), random));
    }
}

// The elements of a block of one line of 16 at most, rotated where the rule says so.
struct ShortLine {
    float values[rotation_lanes];
    int count;
};
MX_CUDA_BOTH inline ShortLine short_line(const RealScaleJob& job, const RealBlock& block) {
    ShortLine line{};
    line.count = static_cast<int>(block.size.lanes);
    for (int i = 0; i < line.count; ++i) line.values[i] = load_element(job, cell_in(block, i));
    if (job.rule.rotates) rotate(line.values);
    return line;
}
MX_CUDA_BOTH inline std::uint32_t amax_of(const RealScaleRule& rule, const ShortLine& line) {
    std::uint32_t amax = 0;
    for (int i = 0; i < line.count; ++i)
        amax = larger_bits(amax, amax_bits(rule.nan_in_amax, line.values[i]));
    return amax;
}

MX_CUDA_BOTH inline float error_of(const BlockSetting& setting, const BlockScale& scale,
                                   const ShortLine& line) {
    float error = 0;
    for (int i = 0; i < line.count; ++i)
        error = sum(error, error_of(setting, scale, line.values[i]));
    return error;
}

// Of two scales the one that errs less, the first where they err alike.
MX_CUDA_BOTH inline BlockScale scale_of(const BlockSetting& setting, const ShortLine& line) {
    const float ratio = ratio_of_block(setting, float_of(amax_of(setting.rule, line)));
    const BlockScale first = scale_from_ratio(setting, ratio);
    if (!compares_two_scales(setting.rule)) return first;
    const BlockScale second = scale_from_ratio(setting, product(ratio, 1.5f));
    return error_of(setting, second, line) < error_of(setting, first, line) ? second : first;
}

// Of rules that must see the elements together: they have no random bits.
MX_CUDA_BOTH inline void encode_together(const RealScaleJob& job, const BlockSetting& setting,
                                         const RealBlock& block) {
    const ShortLine line = short_line(job, block);
    const BlockScale scale = scale_of(setting, line);
    store_scale(setting, job.scales, block.cell, scale);
    const Encoding how = encoding_of(setting);
    for (int i = 0; i < line.count; ++i)
        store_code(job.codes, cell_in(block, i),
                   element_code(how, scaled(job.rule, scale, line.values[i])));
}
MX_CUDA_BOTH inline bool sees_elements_together(const RealScaleRule& rule) {
    return rule.rotates || compares_two_scales(rule);
}

MX_CUDA_BOTH inline void quantize_block(const RealScaleJob& job, const BlockSetting& setting,
                                        Extent cell) {
    constexpr Team alone{0, 1};
    const RealBlock block = real_block_at(job, cell);
    if (sees_elements_together(job.rule))
        encode_together(job, setting, block);
    else
        encode(job, setting, block, amax_of(job, block, alone), alone);
    // Codes 0 behind the last one of a row, as far as its group has room.
    if (!job.codes.fills_groups) return;
    for (std::int64_t lane = block.size.lanes; lane < job.block.lanes; ++lane)
        store_code(job.codes, {block.first.lines, block.first.lanes + lane}, 0);
}

// A thread's item: a block; or two, where their codes share bytes.
MX_CUDA_BOTH inline std::int64_t blocks_per_item(const RealScaleJob& job) {
    const bool shares = job.codes.order != CodeOrder::bytes && job.codes.rows_are_lanes;
    return shares ? 2 : 1;
}
MX_CUDA_BOTH inline Extent item_grid(const RealScaleJob& job) {
    const Extent grid = block_grid(job);
    const std::int64_t each = blocks_per_item(job);
    return {(grid.lines + each - 1) / each, grid.lanes};
}
MX_CUDA_BOTH inline void quantize_item(const RealScaleJob& job, const BlockSetting& setting,
                                       Extent item) {
    const std::int64_t each = blocks_per_item(job);
    const std::int64_t end = smaller((item.lines + 1) * each, block_grid(job).lines);
    for (std::int64_t line = item.lines * each; line < end; ++line)
        quantize_block(job, setting, {line, item.lanes});
}

// What a thread takes of the tensor for its amax: at most a group of elements that are rotated.
MX_CUDA_BOTH inline Extent run_grid(const RealScaleJob& job) {
    return {job.extent.lines, (job.extent.lanes + rotation_lanes - 1) / rotation_lanes};
}
MX_CUDA_BOTH inline std::uint32_t amax_of_run(const RealScaleJob& job, Extent run) {
    const Extent first{run.lines, run.lanes * rotation_lanes};
    const RealBlock block{run, first, {1, smaller(rotation_lanes, job.extent.lanes - first.lanes)}};
    return amax_of(job.rule, short_line(job, block));
}

// `amax` is that of the tensor, where quantize finds it itself.
MX_CUDA_BOTH inline BlockSetting setting_of(const RealScaleJob& job, std::uint32_t amax) {
    float number = 1.0f;
    if (job.source == NumberSource::given) number = float_of(load_word(job.number));
    if (job.source == NumberSource::derived) number = float_of(amax);
    return {job.rule, job.element, job.value_type, tensor_numbers(job.rule, job.element, number)};
}
MX_CUDA_BOTH inline void store_kept(const RealScaleJob& job, const BlockSetting& setting) {
    if (job.source != NumberSource::none)
        store_bits(job.kept, bits_of(kept_number(job.rule, setting.tensor)), 4);
}

MX_CUDA_BOTH inline void dequantize_element(const RealScaleJob& job, Extent cell) {
    Extent block{0, 0};
    if (!is_whole_tensor(job)) block = {cell.lines / job.block.lines, cell.lanes / job.block.lanes};
    const float kept = job.source == NumberSource::none ? 1.0f : float_of(load_word(job.number));
    const float factor = factor_back(job.rule, job.element, load_scale(job.scales, block), kept);
    const float element = element_value(grid_of(job.element), load_code(job.codes, cell));
    store_element(job, cell, product(element, factor));
}

}  // namespace mx::cuda
