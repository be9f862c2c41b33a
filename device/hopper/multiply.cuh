// MX GEMM by wgmma: D = alpha * sum over blocks of 32 of (A . B of the block) * scales + beta * C.
// Of each block the tensor core makes two matrices, each from zero: the sums of its products, and
// the products of its scales. Registers of binary32 take both with one instruction an output:
//
//   sum = fma(block, round(scale of A * scale of B), sum)
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

// What the kernel is told.
struct BlockJob {
    int rows, columns;            // of D
    int stages;                   // along K
    int tile_rows, tile_columns;  // tiles of D
    const float* scales_a;        // of the rows of a tile after another, for all stages
    const float* scales_b;
    float alpha, beta;
    Output output;
    bool has_pairs;  // neighbours of D, from even columns on, lie where one store writes both
    Values c, d;
};

template <Fp8 a, Fp8 b, int group_count, int tile_columns, int part_columns, int stage_count>
struct Shape {
    static constexpr Fp8 a_type = a, b_type = b;
    static constexpr int groups = group_count;  // warpgroups that multiply, one row tile each
    static constexpr int registers = groups == 2 ? 240 : 160;
    static constexpr int rows = groups * rows_of_group, columns = tile_columns;
    static constexpr int part = part_columns;  // columns of one wgmma
    static constexpr int parts = columns / part;
    static constexpr int stages = stage_count;
    static constexpr int threads = (groups + 1) * warpgroup;
    static_assert(columns % part == 0);
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
    alignas(128) float scales_a[S::stages][S::rows * blocks_of_stage];
    alignas(128) float scales_b[S::stages][S::columns * blocks_of_stage];
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
    constexpr int scales_a = S::rows * blocks_of_stage, scales_b = S::columns * blocks_of_stage;
    constexpr std::uint32_t bytes_a = scales_a * sizeof(float), bytes_b = scales_b * sizeof(float);
    for (int i = 0; i < job.stages; ++i, turn.advance()) {
        const int stage = turn.stage;
        wait(shared.empty[stage], turn.phase ^ 1);
        Barrier& full = shared.full[stage];
        arrive_expecting(full, sizeof(Stage<S>) + bytes_a + bytes_b);
        copy_box(shared.stages[stage].a, a, i * depth, tile.row * S::rows, full);
        copy_box(shared.stages[stage].b, b, i * depth, tile.column * S::columns, full);
        const std::int64_t at_a = std::int64_t{tile.row} * job.stages + i;
        const std::int64_t at_b = std::int64_t{tile.column} * job.stages + i;
        copy_bytes(shared.scales_a[stage], job.scales_a + at_a * scales_a, bytes_a, full);
        copy_bytes(shared.scales_b[stage], job.scales_b + at_b * scales_b, bytes_b, full);
    }
}

// A stage as a thread of a group sees it. The words are scales of the thread's two rows, r and
// r + 8: of that block of the stage which has the number of the thread within its four.
struct View {
    std::uint64_t a, b, scales_b;  // matrices
    std::uint32_t word, word_below;
};
template <class S>
__device__ __forceinline__ View view_of(const Shared<S>& shared, int stage, int group) {
    const int lane = static_cast<int>(threadIdx.x) % warpgroup;
    const int row = group * rows_of_group + lane / 32 * 16 + lane % 32 / 4;
    const float* words = shared.scales_a[stage] + row * blocks_of_stage + lane % 4;
    return {matrix_at(shared.stages[stage].a + group * rows_of_group * depth),
            matrix_at(shared.stages[stage].b), scales_at(shared.scales_b[stage]),
            __float_as_uint(words[0]), __float_as_uint(words[8 * blocks_of_stage])};
}

// What the tensor core makes of one block, for one part of the columns.
template <class S>
struct Made {
    float blocks[S::part / 2], scales[S::part / 2];
};

// Of A's scales all but those of one block are left out, so that a product of scales has one term.
template <class S>
__device__ __forceinline__ void make(Made<S>& made, const View& view, int index, int part) {
    const bool has_scale = static_cast<int>(threadIdx.x) % 4 == index;
    const int first = part * S::part;
    pin(made.blocks);
    pin(made.scales);
    begin_products();
    multiply<S::a_type, S::b_type>(made.blocks, moved(view.a, index * block),
                                   moved(view.b, first * depth + index * block));
    multiply_scales(made.scales, has_scale ? view.word : 0, has_scale ? view.word_below : 0,
                    moved(view.scales_b, first * blocks_of_stage * 4));
    end_products();
    wait_for_products();
    pin(made.blocks);
    pin(made.scales);
}

// The scales of neighbours lie exchanged: an instruction whose three operands come from one bank of
// registers takes longer, and so the first two come from different ones.
template <class S>
__device__ __forceinline__ void promote(float (&sums)[S::columns / 2], int part,
                                        const Made<S>& made) {
    float* to = sums + part * (S::part / 2);
#pragma unroll
    for (int i = 0; i < S::part / 2; ++i) to[i] = fmaf(made.blocks[i], made.scales[i ^ 1], to[i]);
}

// The stage is given back before its last part is promoted: nothing of it is read then.
template <class S>
__device__ __forceinline__ void add_stage(float (&sums)[S::columns / 2], const View& view,
                                          Barrier& empty) {
#pragma unroll
    for (int index = 0; index < blocks_of_stage; ++index)
#pragma unroll
        for (int part = 0; part < S::parts; ++part) {
            Made<S> made;
            make(made, view, index, part);
            if (index + 1 == blocks_of_stage && part + 1 == S::parts) {
                __syncwarp();
                if (threadIdx.x % 32 == 0) arrive(empty);
            }
            promote(sums, part, made);
        }
}

template <class S>
__device__ __forceinline__ void add_tile(float (&sums)[S::columns / 2], const BlockJob& job,
                                         Shared<S>& shared, int group, Turn<S>& turn) {
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sums[i] = 0;
    for (int i = 0; i < job.stages; ++i, turn.advance()) {
        wait(shared.full[turn.stage], turn.phase);
        add_stage<S>(sums, view_of(shared, turn.stage, group), shared.empty[turn.stage]);
    }
}

template <class Value>
__device__ Value finished_at(const BlockJob& job, int row, int column, float sum) {
    float addend = 0;
    if (job.c.data != nullptr)
        addend = job.beta * static_cast<float>(static_cast<const Value*>(
                                job.c.data)[row * job.c.row_stride + column]);
    return static_cast<Value>(finished(job.alpha, sum, addend));
}

template <class Value>
struct alignas(2 * sizeof(Value)) Pair {
    Value first, second;
};
template <class Value>
__device__ void store_pair(const BlockJob& job, int row, int column, float first, float second) {
    if (row >= job.rows || column >= job.columns) return;
    Value* to = static_cast<Value*>(job.d.data) + row * job.d.row_stride + column;
    const Value left = finished_at<Value>(job, row, column, first);
    if (column + 1 == job.columns) {
        *to = left;
        return;
    }
    const Value right = finished_at<Value>(job, row, column + 1, second);
    if (job.has_pairs) {
        *reinterpret_cast<Pair<Value>*>(to) = {left, right};
    } else {
        to[0] = left;
        to[1] = right;
    }
}

// A thread has rows r and r + 8 of two columns of every eight: sums[4 i] and [4 i + 1] belong to
// row r, the next two to the other.
template <class S, class Value>
__device__ void store_tile(const float (&sums)[S::columns / 2], const BlockJob& job, Tile tile,
                           int group) {
    const int lane = static_cast<int>(threadIdx.x) % warpgroup;
    const int row = tile.row * S::rows + group * rows_of_group + lane / 32 * 16 + lane % 32 / 4;
    const int column = tile.column * S::columns + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::columns / 8; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            store_pair<Value>(job, row + j * 8, column + i * 8, sums[i * 4 + j * 2],
                              sums[i * 4 + j * 2 + 1]);
}

template <class S>
__device__ void multiply_tiles(const BlockJob& job, Shared<S>& shared, int group) {
    Turn<S> turn;
    for (int index = static_cast<int>(blockIdx.x); index < job.tile_rows * job.tile_columns;
         index += static_cast<int>(gridDim.x)) {
        float sums[S::columns / 2];
        add_tile<S>(sums, job, shared, group, turn);
        const Tile tile = tile_at(job, index);
        if (job.output == Output::f32)
            store_tile<S, float>(sums, job, tile, group);
        else
            store_tile<S, __nv_bfloat16>(sums, job, tile, group);
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
    const int group = __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x) / warpgroup, 0);
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
