// MX GEMM by wgmma: D = alpha * sum over blocks of 32 of (A . B of the block) * scales + beta * C.
// Each block's products are summed by the tensor core from zero, and promoted to binary32:
//
//   sum = fma(round(block * scale of A), scale of B, sum)
//
// One warpgroup loads, through the copy engine; the others multiply and promote, so that while one
// promotes, the tensor cores work for another. Used by multiply.cu.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "device/hopper/kernels.hpp"
#include "device/hopper/scales.cuh"
#include "device/hopper/wgmma.cuh"

namespace mx::hopper {

constexpr int warpgroup = 128;  // threads
constexpr int depth = 128;      // of K, one stage
constexpr int blocks_of_stage = depth / block;
constexpr int rows_of_group = 64;  // of one wgmma
constexpr int scale_tile = 64;     // rows whose scales lie together

// What the kernel is told.
struct BlockJob {
    int rows, columns;            // of D
    int blocks, stages;           // along K; a stage has four blocks
    int tile_rows, tile_columns;  // tiles of D
    const float* scales_a;        // tiles of 64 rows, in each the blocks of all stages
    const float* scales_b;
    float alpha, beta;
    Output output;
    Values c, d;
};

// What a form does of the work: those that leave something out show what bounds the others.
enum class Work { everything, products, promotion, fused_alone };

template <Work what, Fp8 a, Fp8 b, int group_count, int tile_columns, int part_columns,
          int parts_in_flight, int stage_count>
struct Shape {
    static constexpr Work work = what;
    static constexpr Fp8 a_type = a, b_type = b;
    static constexpr int groups = group_count;  // warpgroups that multiply, one row tile each
    static constexpr int registers = groups == 2 ? 240 : 160;
    static constexpr int rows = groups * rows_of_group, columns = tile_columns;
    static constexpr int part = part_columns;        // columns of one wgmma
    static constexpr int buffers = parts_in_flight;  // sums of parts that registers hold
    static constexpr int parts = columns / part;
    static constexpr int stages = stage_count;
    static constexpr int threads = (groups + 1) * warpgroup;
    static constexpr int scale_tiles = columns / scale_tile;
    static_assert(rows_of_group == scale_tile && columns % scale_tile == 0);
};

// One stage of the pipeline in shared memory. Matrices lie at multiples of 1024 bytes.
template <class S>
struct alignas(1024) Stage {
    std::uint8_t a[S::rows * depth];
    std::uint8_t b[S::columns * depth];
};
template <class S>
struct Shared {
    Stage<S> stages[S::stages];
    alignas(128) float scales_a[S::stages][S::groups][blocks_of_stage * scale_tile];
    alignas(128) float scales_b[S::stages][S::scale_tiles][blocks_of_stage * scale_tile];
    Barrier full[S::stages], empty[S::stages];
};

// Where the pipeline is: which stage, and how often it has gone round.
template <class S>
struct Turn {
    int stage = 0;
    std::uint32_t phase = 0;

    __device__ void advance() {
        if (++stage < S::stages) return;
        stage = 0;
        phase ^= 1;
    }
};

// Tiles of D in an order that keeps the rows and columns in use together few.
struct Tile {
    int row, column;
};
__device__ inline Tile tile_at(const BlockJob& job, int index) {
    constexpr int together = 16;
    const int of_group = together * job.tile_columns;
    const int first = index / of_group * together;
    const int rows = min(together, job.tile_rows - first);
    const int within = index % of_group;
    return {first + within % rows, within / rows};
}

template <class S>
__device__ void load_tile(const BlockJob& job, const CUtensorMap& a, const CUtensorMap& b,
                          Shared<S>& shared, Tile tile, Turn<S>& turn) {
    constexpr std::uint32_t scale_bytes = blocks_of_stage * scale_tile * sizeof(float);
    constexpr std::uint32_t bytes =
        sizeof(Stage<S>) + scale_bytes * static_cast<std::uint32_t>(S::groups + S::scale_tiles);
    const std::int64_t line = std::int64_t{job.stages} * blocks_of_stage * scale_tile;
    for (int i = 0; i < job.stages; ++i, turn.advance()) {
        const int stage = turn.stage;
        wait(shared.empty[stage], turn.phase ^ 1);
        Barrier& full = shared.full[stage];
        arrive_expecting(full, bytes);
        copy_box(shared.stages[stage].a, a, i * depth, tile.row * S::rows, full);
        copy_box(shared.stages[stage].b, b, i * depth, tile.column * S::columns, full);
        const std::int64_t at = std::int64_t{i} * blocks_of_stage * scale_tile;
        for (int t = 0; t < S::groups; ++t)
            copy_bytes(shared.scales_a[stage][t],
                       job.scales_a + (tile.row * S::groups + t) * line + at, scale_bytes, full);
        for (int t = 0; t < S::scale_tiles; ++t)
            copy_bytes(shared.scales_b[stage][t],
                       job.scales_b + (tile.column * S::scale_tiles + t) * line + at, scale_bytes,
                       full);
    }
}

// The scales of the columns that a thread has of one part.
template <class S>
struct ColumnScales {
    float4 of[S::part / 16];
};
template <class S>
__device__ ColumnScales<S> column_scales(const Shared<S>& shared, int stage, int index, int part) {
    ColumnScales<S> scales;
    const int lane_place = index * scale_tile + static_cast<int>(threadIdx.x) % 4 * 4;
#pragma unroll
    for (int i = 0; i < S::part / 16; ++i) {
        const int column = part * S::part + i * 16;
        scales.of[i] = *reinterpret_cast<const float4*>(
            shared.scales_b[stage][column / scale_tile] + lane_place + column % scale_tile);
    }
    return scales;
}

// A thread has rows r and r + 8 of two columns of every eight: sum[4 i] and [4 i + 1] belong to
// row r, the next two to the other.
template <class S>
__device__ void promote(float (&sum)[S::columns / 2], int part, const float (&block)[S::part / 2],
                        float2 rows, const ColumnScales<S>& columns) {
    if constexpr (S::work == Work::products) {
        sum[part] += block[0];
        return;
    }
    const auto scaled = [](float value, float scale) {
        return S::work == Work::fused_alone ? value : value * scale;
    };
#pragma unroll
    for (int i = 0; i < S::part / 16; ++i) {
        const float4 scale = columns.of[i];
        float* to = sum + part * (S::part / 2) + i * 8;
        const float* from = block + i * 8;
        to[0] = fmaf(scaled(from[0], rows.x), scale.x, to[0]);
        to[1] = fmaf(scaled(from[1], rows.x), scale.y, to[1]);
        to[2] = fmaf(scaled(from[2], rows.y), scale.x, to[2]);
        to[3] = fmaf(scaled(from[3], rows.y), scale.y, to[3]);
        to[4] = fmaf(scaled(from[4], rows.x), scale.z, to[4]);
        to[5] = fmaf(scaled(from[5], rows.x), scale.w, to[5]);
        to[6] = fmaf(scaled(from[6], rows.y), scale.z, to[6]);
        to[7] = fmaf(scaled(from[7], rows.y), scale.w, to[7]);
    }
}

template <class S>
__device__ void begin_part(float (&block)[S::part / 2], std::uint64_t a, std::uint64_t b,
                           int part) {
    pin(block);
    if constexpr (S::work == Work::promotion) return;
    begin_products();
    multiply<S::a_type, S::b_type>(block, a, moved(b, part * S::part * depth));
    end_products();
}

// One block along K.
template <class S>
__device__ void add_block(float (&sum)[S::columns / 2], const Shared<S>& shared, int stage,
                          int index, int group) {
    const std::uint64_t a =
        matrix_at(shared.stages[stage].a + group * rows_of_group * depth + index * block);
    const std::uint64_t b = matrix_at(shared.stages[stage].b + index * block);
    const int lane = static_cast<int>(threadIdx.x) % warpgroup;
    const float2 rows = *reinterpret_cast<const float2*>(
        shared.scales_a[stage][group] + index * scale_tile + lane / 32 * 16 + lane % 32 / 4 * 2);
    float blocks[S::buffers][S::part / 2];
    begin_part<S>(blocks[0], a, b, 0);
#pragma unroll
    for (int part = 0; part < S::parts; ++part) {
        constexpr bool is_ahead = S::buffers > 1;
        if (is_ahead && part + 1 < S::parts)
            begin_part<S>(blocks[(part + 1) % S::buffers], a, b, part + 1);
        const ColumnScales<S> columns = column_scales(shared, stage, index, part);
        if (is_ahead && part + 1 < S::parts)
            wait_for_products<1>();
        else
            wait_for_products<0>();
        pin(blocks[part % S::buffers]);
        promote<S>(sum, part, blocks[part % S::buffers], rows, columns);
        if (!is_ahead && part + 1 < S::parts) begin_part<S>(blocks[0], a, b, part + 1);
    }
}

template <class S>
__device__ void add_tile(float (&sum)[S::columns / 2], const BlockJob& job, Shared<S>& shared,
                         int group, Turn<S>& turn) {
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sum[i] = 0;
    int blocks_left = job.blocks;
    for (int i = 0; i < job.stages; ++i, turn.advance(), blocks_left -= blocks_of_stage) {
        wait(shared.full[turn.stage], turn.phase);
        const int blocks = min(blocks_left, blocks_of_stage);
        for (int index = 0; index < blocks; ++index)
            add_block<S>(sum, shared, turn.stage, index, group);
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(shared.empty[turn.stage]);
    }
}

template <class Value>
__device__ void store(const BlockJob& job, int row, int column, float sum) {
    if (row >= job.rows || column >= job.columns) return;
    float addend = 0;
    if (job.c.data != nullptr)
        addend = job.beta * static_cast<float>(static_cast<const Value*>(
                                job.c.data)[row * job.c.row_stride + column]);
    static_cast<Value*>(job.d.data)[row * job.d.row_stride + column] =
        static_cast<Value>(finished(job.alpha, sum, addend));
}

template <class S, class Value>
__device__ void store_tile(const float (&sum)[S::columns / 2], const BlockJob& job, Tile tile,
                           int group) {
    const int lane = static_cast<int>(threadIdx.x) % warpgroup;
    const int row = tile.row * S::rows + group * rows_of_group + lane / 32 * 16 + lane % 32 / 4;
    const int column = tile.column * S::columns + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::columns / 8; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            store<Value>(job, row + j / 2 * 8, column + i * 8 + j % 2, sum[i * 4 + j]);
}

template <class S>
__device__ void multiply_tiles(const BlockJob& job, Shared<S>& shared, int group) {
    Turn<S> turn;
    for (int index = static_cast<int>(blockIdx.x); index < job.tile_rows * job.tile_columns;
         index += static_cast<int>(gridDim.x)) {
        float sum[S::columns / 2];
        add_tile<S>(sum, job, shared, group, turn);
        const Tile tile = tile_at(job, index);
        if (job.output == Output::f32)
            store_tile<S, float>(sum, job, tile, group);
        else
            store_tile<S, __nv_bfloat16>(sum, job, tile, group);
    }
}

template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    multiply_blocks(const BlockJob job, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b) {
    extern __shared__ std::uint8_t memory[];
    Shared<S>& shared =
        *reinterpret_cast<Shared<S>*>(memory + (1024 - (shared_address(memory) & 1023)) % 1024);
    if (threadIdx.x == 0) {
        for (int i = 0; i < S::stages; ++i) {
            prepare(shared.full[i], 1);
            prepare(shared.empty[i], S::groups * warpgroup / 32);
        }
        make_barriers_seen();
    }
    __syncthreads();
    const int group = static_cast<int>(threadIdx.x) / warpgroup;
    if (group == S::groups) {
        give_up_registers<24>();
        if (threadIdx.x % warpgroup != 0) return;
        Turn<S> turn;
        for (int index = static_cast<int>(blockIdx.x); index < job.tile_rows * job.tile_columns;
             index += static_cast<int>(gridDim.x))
            load_tile<S>(job, a, b, shared, tile_at(job, index), turn);
    } else {
        take_registers<S::registers>();
        multiply_tiles<S>(job, shared, group);
    }
}

}  // namespace mx::hopper
