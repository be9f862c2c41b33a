// See blocks.hpp. Must not know names or instruction sets.
#include "device/cpu/blocks.hpp"

#include <algorithm>

namespace mx::cpu {
namespace {

std::ptrdiff_t blocks_in(std::ptrdiff_t length, std::ptrdiff_t block) {
    return length / block + (length % block != 0 ? 1 : 0);
}
Extent grid_of_blocks(const BlockJob& job) {
    return {blocks_in(job.extent.lines, job.block.lines),
            blocks_in(job.extent.lanes, job.block.lanes)};
}

// The block at `cell` of the grid of blocks.
void do_block(const BlockJob& job, const BlockKernels& kernels, Cell cell) {
    BlockPlace place{
        cell.line, cell.lane, cell.line * job.block.lines, 0, cell.lane * job.block.lanes, 0};
    place.end_line = std::min(place.first_line + job.block.lines, job.extent.lines);
    place.end_lane = std::min(place.first_lane + job.block.lanes, job.extent.lanes);
    kernels.block(job, place);
}

void do_rows(const BlockJob& job, const BlockKernels& kernels) {
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line) {
        const auto whole = static_cast<std::size_t>(job.extent.lanes / row_block);
        const Cell first{line, 0};
        const Run run{job.recipe, value_at(job, first), code_at(job, first), scale_at(job, first),
                      whole};
        std::size_t done = whole == 0 ? 0 : kernels.run(run);
        for (auto i = static_cast<std::ptrdiff_t>(done); i < grid_of_blocks(job).lanes; ++i) {
            do_block(job, kernels, {line, i});
        }
    }
}

void do_columns(const BlockJob& job, const BlockKernels& kernels) {
    for (std::ptrdiff_t block = 0; block < grid_of_blocks(job).lanes; ++block) {
        const std::ptrdiff_t first = block * job.block.lanes;
        Strip strip{job.recipe,
                    job.values,
                    job.codes,
                    scale_at(job, {0, block}),
                    static_cast<std::size_t>(job.extent.lines),
                    0};
        strip.lanes = static_cast<std::size_t>(std::min(job.block.lanes, job.extent.lanes - first));
        strip.values.data = value_at(job, {0, first});
        strip.codes.data = code_at(job, {0, first});
        const auto done = static_cast<std::ptrdiff_t>(kernels.strip(strip));
        for (std::ptrdiff_t line = done; line < job.extent.lines; ++line) {
            do_block(job, kernels, {line, block});
        }
    }
}

// Lines without a gap between them, and no partial blocks, are one long line.
BlockJob joined(const BlockJob& job) {
    const std::ptrdiff_t lanes = job.extent.lanes;
    const bool gapless = lanes % row_block == 0 && job.values.line_stride == lanes &&
                         job.codes.line_stride == lanes &&
                         job.scales.line_stride == lanes / row_block;
    if (!gapless) return job;
    BlockJob long_line = job;
    long_line.extent = {1, job.extent.lines * lanes};
    return long_line;
}

}  // namespace

void for_each_block(const BlockJob& job, const BlockKernels& kernels) {
    if (job.extent.lines == 0 || job.extent.lanes == 0) return;
    const bool along_memory = job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
                              job.scales.lane_stride == 1 && job.block.lanes == row_block;
    const bool across_memory =
        job.values.line_stride == 1 && job.codes.line_stride == 1 && job.scales.line_stride == 1;
    const bool flat = job.block.lines == 1;
    if (flat && along_memory) return do_rows(joined(job), kernels);
    if (flat && across_memory) return do_columns(job, kernels);
    const Extent grid = grid_of_blocks(job);
    for (std::ptrdiff_t line = 0; line < grid.lines; ++line) {
        for (std::ptrdiff_t lane = 0; lane < grid.lanes; ++lane) {
            do_block(job, kernels, {line, lane});
        }
    }
}

}  // namespace mx::cpu
