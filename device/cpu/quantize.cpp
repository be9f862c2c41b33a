// quantize.hpp: chooses the kernel by what is contiguous, and serves what kernels leave over with
// the scalar arithmetic. Must not know dialect names or instruction sets.
#include "device/cpu/quantize.hpp"

#include <algorithm>

#include "device/cpu/quantize_columns.hpp"
#include "device/cpu/quantize_rows.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

std::ptrdiff_t blocks_of(std::ptrdiff_t lanes) { return (lanes + block_size - 1) / block_size; }

const std::uint8_t* value_at(const QuantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t lane) {
    return job.values.data + (line * job.values.line_stride + lane * job.values.lane_stride) *
                                 width_of(job.value_type);
}
std::uint8_t* code_at(const QuantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t lane) {
    return job.codes.data + line * job.codes.line_stride + lane * job.codes.lane_stride;
}
std::uint8_t* scale_at(const QuantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t block) {
    return job.scales.data + line * job.scales.line_stride + block * job.scales.lane_stride;
}

void quantize_block(const QuantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t block) {
    const std::ptrdiff_t first = block * block_size;
    const std::ptrdiff_t end = std::min(first + block_size, job.extent.lanes);
    std::uint32_t bits[block_size];
    std::uint32_t amax = 0;
    for (std::ptrdiff_t lane = first; lane < end; ++lane) {
        const std::uint32_t value = load_f32_bits(job.value_type, value_at(job, line, lane));
        const std::uint32_t absolute = value & f32_magnitude_mask;
        const bool left_out =
            absolute > f32_infinity && job.rule.nan_policy == NanPolicy::own_lane;
        if (!left_out) amax = std::max(amax, absolute);
        bits[lane - first] = value;
    }
    const std::uint8_t scale = scale_code(job.rule, amax);
    *scale_at(job, line, block) = scale;
    const ElementStep step{job.element_type, OverflowMode::saturate, int{scale} - 127};
    for (std::ptrdiff_t lane = first; lane < end; ++lane) {
        *code_at(job, line, lane) =
            scale == scale_nan ? element_nan : element_code(bits[lane - first], step);
    }
}

Stores stores_for(const std::uint8_t* codes, std::ptrdiff_t bytes) {
    const bool large = static_cast<std::size_t>(bytes) >= streaming_bytes;
    const bool aligned = reinterpret_cast<std::uintptr_t>(codes) % 64 == 0;
    return large && aligned ? Stores::streaming : Stores::cached;
}

void quantize_row(const QuantizeJob& job, std::ptrdiff_t line) {
    const std::ptrdiff_t whole_blocks = job.extent.lanes / block_size;
    const auto blocks = static_cast<std::size_t>(whole_blocks);
    std::uint8_t* codes = code_at(job, line, 0);
    std::size_t done = 0;
    if (blocks != 0) {
        done = quantize_row_run({job.value_type, job.element_type, job.rule,
                                 value_at(job, line, 0), codes, scale_at(job, line, 0), blocks,
                                 stores_for(codes, whole_blocks * block_size)});
    }
    for (auto i = static_cast<std::ptrdiff_t>(done); i < blocks_of(job.extent.lanes); ++i) {
        quantize_block(job, line, i);
    }
}

// Lines without a gap between them, and no partial blocks, are one long line.
QuantizeJob joined(const QuantizeJob& job) {
    const std::ptrdiff_t lanes = job.extent.lanes;
    const bool gapless = lanes % block_size == 0 && job.values.line_stride == lanes &&
                         job.codes.line_stride == lanes &&
                         job.scales.line_stride == lanes / block_size;
    if (!gapless) return job;
    QuantizeJob long_line = job;
    long_line.extent = {1, job.extent.lines * lanes};
    return long_line;
}

void quantize_columns(const QuantizeJob& job) {
    for (std::ptrdiff_t block = 0; block < blocks_of(job.extent.lanes); ++block) {
        const std::ptrdiff_t first = block * block_size;
        ColumnStrip strip{job.value_type, job.element_type, job.rule, job.values, job.codes,
                          scale_at(job, 0, block), static_cast<std::size_t>(job.extent.lines), 0};
        const std::ptrdiff_t strip_lanes =
            std::min<std::ptrdiff_t>(block_size, job.extent.lanes - first);
        strip.lanes = static_cast<std::size_t>(strip_lanes);
        strip.values.data = value_at(job, 0, first);
        strip.codes.data = code_at(job, 0, first);
        const auto done = static_cast<std::ptrdiff_t>(quantize_column_strip(strip));
        for (std::ptrdiff_t line = done; line < job.extent.lines; ++line) {
            quantize_block(job, line, block);
        }
    }
}

}  // namespace

void quantize(const QuantizeJob& job) {
    if (job.extent.lines == 0 || job.extent.lanes == 0) return;
    const bool along_memory = job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
                              job.scales.lane_stride == 1;
    const bool across_memory = job.values.line_stride == 1 && job.codes.line_stride == 1 &&
                               job.scales.line_stride == 1;
    if (along_memory) {
        const QuantizeJob lines = joined(job);
        for (std::ptrdiff_t i = 0; i < lines.extent.lines; ++i) quantize_row(lines, i);
        return;
    }
    if (across_memory) return quantize_columns(job);
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line) {
        for (std::ptrdiff_t block = 0; block < blocks_of(job.extent.lanes); ++block) {
            quantize_block(job, line, block);
        }
    }
}

void encode_scales(const EncodeScaleJob& job) {
    const std::ptrdiff_t width = width_of(job.value_type);
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line) {
        for (std::ptrdiff_t lane = 0; lane < job.extent.lanes; ++lane) {
            const std::ptrdiff_t at = line * job.amax.line_stride + lane * job.amax.lane_stride;
            const std::uint32_t bits = load_f32_bits(job.value_type, job.amax.data + at * width);
            job.scales.data[line * job.scales.line_stride + lane * job.scales.lane_stride] =
                scale_code(job.rule, bits & f32_magnitude_mask);
        }
    }
}

}  // namespace mx::cpu
