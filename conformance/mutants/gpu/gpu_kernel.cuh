// The kernel of the planted bugs: a plain quantizer of its own, in which eight threads, each in
// another warp, find the amax of a block together. Included by gpu_launch.cu; knows no host.
#pragma once

#include <cstdint>

#include "conformance/mutants/gpu/gpu_bug.hpp"
#include "conformance/mutants/gpu/gpu_request.hpp"

namespace mx::mutants::gpu {
namespace {  // of each source that includes it: they are compiled differently

inline constexpr int lanes = 32;        // of a block
inline constexpr int quad = 4;          // lanes of a thread
inline constexpr int quads = 8;         // threads of a block
inline constexpr int tile_blocks = 32;  // blocks that a thread block takes at once, one a column
inline constexpr int tile_threads = tile_blocks * quads;
inline constexpr std::uint32_t infinity_bits = 0x7F800000u;
inline constexpr std::uint32_t nan_byte = 0xFFu;

// The first warp has lanes 0 to 3 of all blocks of the tile. It is late with every bug and without
// one, by a microsecond: what is right must be right in every order, and an order that hides a
// missing barrier or a race must not be left to chance.
__device__ inline void hold_back_first_warp() {
    constexpr long long cycles = 2000;
    if (threadIdx.x >= tile_blocks) return;
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// The four lanes of a thread, as the bits of float32 values; 0 beyond the end of the row.
struct Quad {
    std::uint32_t bits[quad];
    int count;  // that exist
};

__device__ inline std::uint32_t load_lane(const Job& job, std::int64_t place) {
    if (job.type == Values::f32)
        return reinterpret_cast<const std::uint32_t*>(job.values.data)[place];
    const std::uint32_t upper = reinterpret_cast<const std::uint16_t*>(job.values.data)[place];
    return upper << 16;
}

__device__ inline Quad load(const Job& job, std::int64_t row, std::int64_t column) {
    const std::int64_t stride = job.bug == Bug::wrong_stride ? job.columns : job.values.row_stride;
    const std::int64_t step = job.values.column_stride;
    const std::int64_t place = row * stride + column * step;
    const std::int64_t left = job.columns - column;
    Quad loaded{{}, left >= quad ? quad : static_cast<int>(left > 0 ? left : 0)};
    const auto address = reinterpret_cast<std::uintptr_t>(job.values.data + place * 4);
    const bool is_whole = loaded.count == quad && address % 16 == 0;
    const bool is_wide = job.type == Values::f32 && step == 1 && loaded.count > 0;
    if (is_wide && (is_whole || job.bug == Bug::unaligned_load)) {
        const uint4 wide = *reinterpret_cast<const uint4*>(address / 16 * 16);
        const std::uint32_t words[quad] = {wide.x, wide.y, wide.z, wide.w};
        for (int i = 0; i < loaded.count; ++i) loaded.bits[i] = words[i];
        return loaded;
    }
    for (int i = 0; i < loaded.count; ++i) loaded.bits[i] = load_lane(job, place + i * step);
    return loaded;
}

// The bits of the largest magnitude. NaN is above infinity, which is right for ocp; nv passes over
// it.
__device__ inline std::uint32_t largest_of(const Job& job, const Quad& values) {
    const bool takes_nan = job.dialect == Dialect::ocp || job.bug == Bug::nan_wins_max;
    std::uint32_t largest = 0;
    for (int i = 0; i < quad; ++i) {
        const std::uint32_t magnitude = values.bits[i] & 0x7FFFFFFFu;
        if (magnitude <= infinity_bits || takes_nan) largest = max(largest, magnitude);
    }
    return largest;
}

// 448, the largest element, is 1.75 * 2^8: ocp takes 8 off the exponent field of the amax. nv takes
// the next power of two up from amax / 448; byte 0, which is 2^-127, lies among the subnormals.
__device__ inline std::uint32_t scale_byte(std::uint32_t amax, Dialect dialect) {
    constexpr std::uint32_t exponent_largest = 8, byte_largest = 254;
    if (amax > infinity_bits) return nan_byte;
    if (dialect == Dialect::ocp) {
        if (amax == infinity_bits) return nan_byte;
        const std::uint32_t field = amax >> 23;
        return field < exponent_largest ? 0 : field - exponent_largest;
    }
    const std::uint32_t ratio = __float_as_uint(__uint_as_float(amax) * (1.0f / 448.0f));
    const std::uint32_t field = ratio >> 23, fraction = ratio & 0x007FFFFFu;
    if (field == 0) return fraction > 0x00400000u ? 1 : 0;
    return min(field + (fraction != 0 ? 1 : 0), byte_largest);
}

// 2^(127 - byte). Of byte 254 it is subnormal, which --use_fast_math makes 0 of.
__device__ inline float inverse_of(std::uint32_t byte) {
    if (byte == nan_byte) return __uint_as_float(0x7FC00000u);
    return __uint_as_float(byte == 254 ? 0x00400000u : (254 - byte) << 23);
}

// Two codes, that of the first value in the low byte.
__device__ inline std::uint32_t two_codes(const Job& job, float first, float second) {
    std::uint16_t codes;
    if (job.bug == Bug::through_f16) {
        std::uint32_t halves;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(second), "f"(first));
        asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(codes) : "r"(halves));
    } else if (job.bug == Bug::pair_exchanged) {
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(first), "f"(second));
    } else {
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
    }
    return codes;
}

__device__ inline void store(const Job& job, std::int64_t row, std::int64_t column,
                             const Quad& values, float inverse) {
    float scaled[quad];
    for (int i = 0; i < quad; ++i) scaled[i] = __uint_as_float(values.bits[i]) * inverse;
    const std::uint32_t codes =
        two_codes(job, scaled[0], scaled[1]) | two_codes(job, scaled[2], scaled[3]) << 16;
    unsigned char* row_data = job.codes.data + row * job.codes.row_stride;
    for (int i = 0; i < values.count; ++i)
        row_data[(column + i) * job.codes.column_stride] =
            static_cast<unsigned char>(codes >> (8 * i));
}

// A thread block walks along rows, tile by tile. The amaxes of a tile stand in one of two slots by
// turns, so that a slot can be made ready while the tile before is still being stored.
__global__ void __launch_bounds__(tile_threads) quantize_tiles(Job job) {
    __shared__ std::uint32_t amaxes[2][tile_blocks];
    const std::int64_t blocks = (job.columns + lanes - 1) / lanes;
    const int block_of_tile = static_cast<int>(threadIdx.x) % tile_blocks;
    const bool is_first = threadIdx.x < tile_blocks;
    const std::int64_t lane = threadIdx.x / tile_blocks * quad;
    std::int64_t steps = 0;
    for (std::int64_t row = blockIdx.y; row < job.rows; row += gridDim.y) {
        for (std::int64_t tile = 0; tile < blocks; tile += tile_blocks, ++steps) {
            const int slot = static_cast<int>(steps % 2);
            if (is_first && (steps < 2 || job.bug != Bug::amax_not_reset))
                amaxes[slot][block_of_tile] = 0;
            __syncthreads();
            const std::int64_t block = tile + block_of_tile;
            const std::int64_t column = block * lanes + lane;
            const Quad values = load(job, row, column);
            hold_back_first_warp();
            atomicMax(&amaxes[slot][block_of_tile], largest_of(job, values));
            if (job.bug != Bug::missing_sync) __syncthreads();
            const int slot_read = job.bug == Bug::stale_scale && steps >= 2 ? 1 - slot : slot;
            const volatile std::uint32_t& amax = amaxes[slot_read][block_of_tile];
            const std::uint32_t byte = scale_byte(amax, job.dialect);
            hold_back_first_warp();
            if (is_first && block < blocks)
                job.scales.data[row * job.scales.row_stride + block * job.scales.column_stride] =
                    static_cast<unsigned char>(byte);
            const bool is_short = values.count > 0 && values.count < quad;
            if (job.bug == Bug::tail_race && is_short && job.columns >= quad) {
                const std::int64_t moved = job.columns - quad;
                store(job, row, moved, load(job, row, moved), inverse_of(byte));
            } else {
                store(job, row, column, values, inverse_of(byte));
            }
        }
        if (job.bug == Bug::grid_limit) return;
    }
}

}  // namespace
}  // namespace mx::mutants::gpu
