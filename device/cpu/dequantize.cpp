// dequantize.hpp: chooses the kernel by what is contiguous, and serves what kernels leave over with
// the scalar arithmetic. Must not know names or instruction sets.
#include "device/cpu/dequantize.hpp"

#include <algorithm>

#include "device/cpu/dequantize_kernels.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

std::ptrdiff_t blocks_of(std::ptrdiff_t lanes) { return (lanes + block_size - 1) / block_size; }

const std::uint8_t* code_at(const DequantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t lane) {
    return job.codes.data + line * job.codes.line_stride + lane * job.codes.lane_stride;
}
const std::uint8_t* scale_at(const DequantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t block) {
    return job.scales.data + line * job.scales.line_stride + block * job.scales.lane_stride;
}
std::uint8_t* value_at(const DequantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t lane) {
    return job.values.data + (line * job.values.line_stride + lane * job.values.lane_stride) *
                                 width_of(job.value_type);
}

void dequantize_block(const DequantizeJob& job, std::ptrdiff_t line, std::ptrdiff_t block) {
    const std::ptrdiff_t first = block * block_size;
    const std::ptrdiff_t end = std::min(first + block_size, job.extent.lanes);
    const std::uint8_t scale = *scale_at(job, line, block);
    for (std::ptrdiff_t lane = first; lane < end; ++lane) {
        const ScaledElement element{job.element_type, *code_at(job, line, lane), scale};
        store_code(job.value_type, dequantized(element, job.value_type),
                   value_at(job, line, lane));
    }
}

void dequantize_row(const DequantizeJob& job, std::ptrdiff_t line) {
    const std::ptrdiff_t whole_blocks = job.extent.lanes / block_size;
    const std::ptrdiff_t bytes = whole_blocks * block_size * width_of(job.value_type);
    const bool large = static_cast<std::size_t>(bytes) >= streaming_bytes;
    const std::size_t done = dequantize_row_run(
        {job.element_type, job.value_type, code_at(job, line, 0), scale_at(job, line, 0),
         value_at(job, line, 0), static_cast<std::size_t>(whole_blocks),
         large ? Stores::streaming : Stores::cached});
    for (auto i = static_cast<std::ptrdiff_t>(done); i < blocks_of(job.extent.lanes); ++i) {
        dequantize_block(job, line, i);
    }
}

// Lines without a gap between them, and no partial blocks, are one long line.
DequantizeJob joined(const DequantizeJob& job) {
    const std::ptrdiff_t lanes = job.extent.lanes;
    const bool gapless = lanes % block_size == 0 && job.values.line_stride == lanes &&
                         job.codes.line_stride == lanes &&
                         job.scales.line_stride == lanes / block_size;
    if (!gapless) return job;
    DequantizeJob long_line = job;
    long_line.extent = {1, job.extent.lines * lanes};
    return long_line;
}

void dequantize_columns(const DequantizeJob& job) {
    for (std::ptrdiff_t block = 0; block < blocks_of(job.extent.lanes); ++block) {
        const std::ptrdiff_t first = block * block_size;
        const std::ptrdiff_t strip_lanes =
            std::min<std::ptrdiff_t>(block_size, job.extent.lanes - first);
        DequantizeStrip strip{job.element_type, job.value_type, job.codes, scale_at(job, 0, block),
                              job.values, static_cast<std::size_t>(job.extent.lines),
                              static_cast<std::size_t>(strip_lanes)};
        strip.codes.data = code_at(job, 0, first);
        strip.values.data = value_at(job, 0, first);
        const auto done = static_cast<std::ptrdiff_t>(dequantize_column_strip(strip));
        for (std::ptrdiff_t line = done; line < job.extent.lines; ++line) {
            dequantize_block(job, line, block);
        }
    }
}

}  // namespace

void dequantize(const DequantizeJob& job) {
    if (job.extent.lines == 0 || job.extent.lanes == 0) return;
    const bool along_memory = job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
                              job.scales.lane_stride == 1;
    const bool across_memory = job.values.line_stride == 1 && job.codes.line_stride == 1 &&
                               job.scales.line_stride == 1;
    if (along_memory) {
        const DequantizeJob lines = joined(job);
        for (std::ptrdiff_t i = 0; i < lines.extent.lines; ++i) dequantize_row(lines, i);
        return;
    }
    if (across_memory) return dequantize_columns(job);
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line) {
        for (std::ptrdiff_t block = 0; block < blocks_of(job.extent.lanes); ++block) {
            dequantize_block(job, line, block);
        }
    }
}

}  // namespace mx::cpu
