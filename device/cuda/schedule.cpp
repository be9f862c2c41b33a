// Which kernel does which part of a job. See kernels.hpp.
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/nvfp4_rules.hpp"

namespace mx::cuda {
namespace {

// What every fast kernel may assume of a pointer and of the distance from line to line.
struct Alignment {
    std::int64_t bytes;
    std::int64_t line_bytes;
};
bool is_aligned(const std::uint8_t* data, Alignment wanted) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
    return address % wanted.bytes == 0 && wanted.line_bytes % wanted.bytes == 0;
}

bool is_fast_format(const BlockJob& job) {
    return is_fp8(job.recipe.element) && job.block.lines == 1 && job.block.lanes == block_lanes;
}

constexpr std::int64_t vector_bytes = 16;

bool runs_along_memory(const BlockJob& job) {
    const std::int64_t width = width_of(job.recipe.value_type);
    return is_fast_format(job) && job.values.lane_stride == 1 && job.codes.lane_stride == 1 &&
           is_aligned(job.values.data, {vector_bytes, job.values.line_stride * width}) &&
           is_aligned(job.codes.data, {vector_bytes, job.codes.line_stride});
}

bool has_values_across_memory(const BlockJob& job, std::int64_t bytes) {
    const std::int64_t width = width_of(job.recipe.value_type);
    return is_fast_format(job) && job.values.line_stride == 1 &&
           is_aligned(job.values.data, {bytes, job.values.lane_stride * width});
}

bool runs_across_memory(const BlockJob& job) {
    const std::int64_t width = width_of(job.recipe.value_type);
    return has_values_across_memory(job, column_bytes) && job.codes.line_stride == 1 &&
           is_aligned(job.codes.data, {column_bytes / width, job.codes.lane_stride});
}

bool transposes(const BlockJob& job) {
    return has_values_across_memory(job, transposed_bytes) && job.codes.lane_stride == 1 &&
           is_aligned(job.codes.data, {vector_bytes, job.codes.line_stride});
}

// What is left of a job without its first lanes, a whole number of blocks, or its first lines.
BlockJob without_lanes(BlockJob job, std::int64_t lanes) {
    job.values.data += lanes * job.values.lane_stride * width_of(job.recipe.value_type);
    job.codes.data += lanes * job.codes.lane_stride;
    job.scales.first_block += lanes / job.block.lanes;
    job.extent.lanes -= lanes;
    return job;
}
BlockJob without_lines(BlockJob job, std::int64_t lines) {
    job.values.data += lines * job.values.line_stride * width_of(job.recipe.value_type);
    job.codes.data += lines * job.codes.line_stride;
    job.scales.first_line += lines;
    job.extent.lines -= lines;
    return job;
}

// Lines without a gap between them, and no partial blocks, are one long line.
BlockJob joined(BlockJob job) {
    const std::int64_t lanes = job.extent.lanes;
    const bool is_gapless =
        lanes % block_lanes == 0 && job.values.line_stride == lanes &&
        job.codes.line_stride == lanes && job.scales.order == ScaleOrder::strided &&
        job.scales.block_stride == 1 && job.scales.line_stride == lanes / block_lanes;
    if (!is_gapless) return job;
    job.extent = {1, job.extent.lines * lanes};
    return job;
}

using Kernel = cudaError_t (*)(const BlockJob&, cudaStream_t);

// `fast` on all whole blocks, `any` on what is left of each line.
struct Pair {
    Kernel fast;
    Kernel any;
};
cudaError_t along_memory(const BlockJob& asked, const Pair& kernels, cudaStream_t stream) {
    const BlockJob job = joined(asked);
    const std::int64_t whole = job.extent.lanes / block_lanes * block_lanes;
    BlockJob main = job;
    main.extent.lanes = whole;
    cudaError_t error = whole == 0 ? cudaSuccess : kernels.fast(main, stream);
    if (error == cudaSuccess && whole < job.extent.lanes)
        error = kernels.any(without_lanes(job, whole), stream);
    return error;
}

// A kernel, and the bytes of a memory row that its threads take.
struct AcrossMemory {
    Kernel fast;
    int bytes;
};
// Also what is left of the lines, when they are not as many as threads take.
cudaError_t across_memory(const BlockJob& job, const AcrossMemory& kernel, cudaStream_t stream) {
    const std::int64_t columns = kernel.bytes / width_of(job.recipe.value_type);
    const Extent whole{job.extent.lines / columns * columns,
                       job.extent.lanes / block_lanes * block_lanes};
    BlockJob main = job;
    main.extent = whole;
    cudaError_t error =
        whole.lines == 0 || whole.lanes == 0 ? cudaSuccess : kernel.fast(main, stream);
    if (error == cudaSuccess && whole.lanes < job.extent.lanes)
        error = quantize_any(without_lanes(job, whole.lanes), stream);
    if (error == cudaSuccess && whole.lines < job.extent.lines) {
        BlockJob side = without_lines(job, whole.lines);
        side.extent.lanes = whole.lanes;
        if (whole.lanes > 0) error = quantize_any(side, stream);
    }
    return error;
}

// The pads are cleared around a whole grid: a part of one would take its neighbours for pads.
bool begins_at_origin(const ScalePlane& scales) {
    return scales.first_line == 0 && scales.first_block == 0;
}

bool is_empty(Extent extent) {
    return extent.lines == 0 || extent.lanes == 0;
}

Extent grid_of_blocks(const BlockJob& job) {
    return {(job.extent.lines + job.block.lines - 1) / job.block.lines,
            (job.extent.lanes + job.block.lanes - 1) / job.block.lanes};
}

cudaError_t clear_pads(const ScalePlane& scales, Extent grid, cudaStream_t stream) {
    if (scales.order == ScaleOrder::strided) return cudaSuccess;
    return zero_pads(scales, grid, stream);
}

bool can_be_read_once(const BothJob& job) {
    const Extent extent = job.rows.extent;
    return extent.lines % block_lanes == 0 && extent.lanes % block_lanes == 0 &&
           runs_along_memory(job.rows) && job.column_codes.lane_stride == 1 &&
           is_aligned(job.column_codes.data, {vector_bytes, job.column_codes.line_stride});
}

// What both passes over the values of NVFP4 may assume of them.
bool has_fast_values(const RealScaleJob& job) {
    const std::int64_t width = width_of(job.value_type);
    return job.element == Element::e2m1 && job.value_type != ValueType::f16 &&
           job.values.lane_stride == 1 && job.extent.lanes % nvfp4_lanes == 0 &&
           is_aligned(job.values.data, {vector_bytes, job.values.line_stride * width});
}

bool is_fast_nvfp4(const RealScaleJob& job) {
    const bool has_fast_codes = job.codes.order == CodeOrder::low_first &&
                                !job.codes.rows_are_lanes && !job.codes.fills_groups &&
                                is_aligned(job.codes.data, {8, job.codes.row_bytes});
    const bool has_fast_scales = !job.scales.is_f32 && job.scales.tiles == TileOrder::none &&
                                 (job.scales.plane.order == ScaleOrder::strided ||
                                  is_aligned(job.scales.plane.data, {vector_bytes, 0}));
    return find_nvfp4_rule(job.rule) != Nvfp4Rule::none && has_fast_codes && has_fast_scales &&
           has_fast_values(job) && job.block.lines == 1 && job.block.lanes == nvfp4_lanes &&
           !is_empty(job.extent);
}

// Lines without a gap between them are one long line.
RealScaleJob joined(RealScaleJob job) {
    const std::int64_t lanes = job.extent.lanes;
    const std::int64_t blocks = lanes / nvfp4_lanes;
    const ScalePlane& scales = job.scales.plane;
    const bool is_gapless = job.values.line_stride == lanes && job.codes.row_bytes == lanes / 2 &&
                            scales.order == ScaleOrder::strided && scales.block_stride == 1 &&
                            scales.line_stride == blocks;
    if (is_gapless) job.extent = {1, job.extent.lines * lanes};
    return job;
}

}  // namespace

cudaError_t quantize_real_scales(const RealScaleJob& job, std::uint32_t* amax,
                                 cudaStream_t stream) {
    if (!begins_at_origin(job.scales.plane)) return cudaErrorInvalidValue;
    const bool is_fast = is_fast_nvfp4(job);
    if (job.source == NumberSource::derived || is_whole_tensor(job)) {
        cudaError_t error = cudaMemsetAsync(amax, 0, sizeof *amax, stream);
        if (error == cudaSuccess)
            error = is_fast ? find_nvfp4_amax(joined(job), amax, stream)
                            : find_real_amax(job, amax, stream);
        if (error != cudaSuccess) return error;
    }
    return is_fast ? quantize_nvfp4_rows(joined(job), amax, stream)
                   : quantize_real_any(job, amax, stream);
}

cudaError_t quantize(const BlockJob& job, cudaStream_t stream) {
    if (!begins_at_origin(job.scales)) return cudaErrorInvalidValue;
    if (is_empty(job.extent)) return cudaSuccess;
    const cudaError_t error = clear_pads(job.scales, grid_of_blocks(job), stream);
    if (error != cudaSuccess) return error;
    if (runs_along_memory(job)) return along_memory(job, {quantize_rows, quantize_any}, stream);
    if (runs_across_memory(job))
        return across_memory(job, {quantize_columns, column_bytes}, stream);
    if (transposes(job)) return across_memory(job, {quantize_transposed, transposed_bytes}, stream);
    return quantize_any(job, stream);
}

cudaError_t quantize_both(const BothJob& job, cudaStream_t stream) {
    if (!begins_at_origin(job.rows.scales) || !begins_at_origin(job.column_scales))
        return cudaErrorInvalidValue;
    if (is_empty(job.rows.extent)) return cudaSuccess;
    const BlockJob columns = columns_of(job);
    if (!can_be_read_once(job)) {
        const cudaError_t error = quantize(job.rows, stream);
        return error == cudaSuccess ? quantize(columns, stream) : error;
    }
    cudaError_t error = clear_pads(job.rows.scales, grid_of_blocks(job.rows), stream);
    if (error == cudaSuccess) error = clear_pads(columns.scales, grid_of_blocks(columns), stream);
    return error == cudaSuccess ? quantize_both_at_once(job, stream) : error;
}

cudaError_t dequantize(const BlockJob& job, cudaStream_t stream) {
    if (!begins_at_origin(job.scales)) return cudaErrorInvalidValue;
    if (is_empty(job.extent)) return cudaSuccess;
    if (runs_along_memory(job)) return along_memory(job, {dequantize_rows, dequantize_any}, stream);
    return dequantize_any(job, stream);
}

}  // namespace mx::cuda
