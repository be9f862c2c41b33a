// Inside device/cuda: the kernels behind the functions of kernels.hpp, each with what it can take.
// Used by the .cu files alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cuda/real_scale.hpp"
#include "device/cuda/types.hpp"

namespace mx::cuda {

inline constexpr std::int64_t block_lanes = 32;  // of every fast kernel
inline constexpr std::int64_t nvfp4_lanes = 16;
inline constexpr int warp_lanes = 32;

// Bytes that a thread of the kernels across memory takes of a memory row.
inline constexpr int column_bytes = 4;
inline constexpr int transposed_bytes = 8;

// Any job.
cudaError_t quantize_any(const BlockJob& job, cudaStream_t stream);
cudaError_t dequantize_any(const BlockJob& job, cudaStream_t stream);

// Whole blocks of 32 along memory, or across it, or across the values' and along the codes'; see
// the conditions in schedule.cpp.
cudaError_t quantize_rows(const BlockJob& job, cudaStream_t stream);
cudaError_t quantize_columns(const BlockJob& job, cudaStream_t stream);
cudaError_t quantize_transposed(const BlockJob& job, cudaStream_t stream);
cudaError_t quantize_both_at_once(const BothJob& job, cudaStream_t stream);
cudaError_t dequantize_rows(const BlockJob& job, cudaStream_t stream);

// Any job of blocks whose scale has a mantissa; *amax is the amax of the tensor where the number or
// the block is derived from it. The first two raise *amax to that amax.
cudaError_t find_real_amax(const RealScaleJob& job, std::uint32_t* amax, cudaStream_t stream);
cudaError_t find_nvfp4_amax(const RealScaleJob& job, std::uint32_t* amax, cudaStream_t stream);
cudaError_t quantize_real_any(const RealScaleJob& job, const std::uint32_t* amax,
                              cudaStream_t stream);

// Whole blocks of NVFP4 along memory; see is_fast_nvfp4 in schedule.cpp.
cudaError_t quantize_nvfp4_rows(const RealScaleJob& job, const std::uint32_t* amax,
                                cudaStream_t stream);

// Writes 0 to the pads of scales in tiles of 128 x 4, of a grid of lines x blocks.
cudaError_t zero_pads(const ScalePlane& scales, Extent grid, cudaStream_t stream);

// A warp's place among the warps of a grid that covers lines x strips, without a division: in a
// thread block of 2^log2 warps 2^across_log2 lie side by side and the others below.
struct Tiling {
    int across_log2;
    dim3 grid;
};
// Small thread blocks: one that ends makes room sooner.
inline constexpr int warps_log2 = 1;
template <int log2>
inline constexpr int threads_of = warp_lanes << log2;
inline constexpr int threads_per_block = threads_of<warps_log2>;
inline constexpr std::int64_t grid_y_max = 65535;  // kernels go on to further lines by themselves

template <int log2 = warps_log2>
Tiling tiling_of(Extent strips) {
    Tiling tiling{0, {}};
    while (tiling.across_log2 < log2 && (std::int64_t{1} << tiling.across_log2) < strips.lanes)
        ++tiling.across_log2;
    const std::int64_t across = std::int64_t{1} << tiling.across_log2;
    const std::int64_t down = (std::int64_t{1} << log2) / across;
    const std::int64_t wanted = (strips.lines + down - 1) / down;
    tiling.grid = dim3(static_cast<unsigned>((strips.lanes + across - 1) / across),
                       static_cast<unsigned>(wanted < grid_y_max ? wanted : grid_y_max));
    return tiling;
}

}  // namespace mx::cuda
