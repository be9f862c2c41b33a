// MX GEMM by wgmma: D = alpha * sum over blocks of 32 of (A . B of the block) * scales + beta * C.
// Of each block the tensor core makes two matrices, each from zero: the sums of its products, and
// the products of its scales. Registers of binary32 take both with one instruction an output:
//
//   sum = fma(block, round(scale of A * scale of B), sum)
//
// One warpgroup loads, through the copy engine; the others multiply and promote, so that while one
// promotes, the tensor cores work for another, or for its own next part. Used by multiply.cu.
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

template <Fp8 a, Fp8 b, class Form>
struct Shape : Form {
    static constexpr Fp8 a_type = a, b_type = b;
};
// What a form of the kernel is but for the types of its factors.
template <int group_count, int tile_columns, int part_columns, int parts_in_flight, int stage_count>
struct Form {
    static constexpr int groups = group_count;  // warpgroups that multiply, one row tile each
    static constexpr int registers = groups == 2 ? 240 : 160;
    static constexpr int rows = groups * rows_of_group, columns = tile_columns;
    static constexpr int part = part_columns;  // columns of one wgmma
    static constexpr int parts = columns / part;
    static constexpr int steps = blocks_of_stage * parts;  // a stage is taken in
    static constexpr int in_flight = parts_in_flight;      // of a warpgroup, at once
    static constexpr int stages = stage_count;
    static constexpr int threads = (groups + 1) * warpgroup;
    static_assert(columns % part == 0 && in_flight <= 2);
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
    std::uint32_t zero;  // that the compiler cannot know: what it knows it makes anew each time
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
struct RowScales {
    std::uint32_t words[4];  // of rows r and r + 8; zeros
};
__device__ __forceinline__ void choose(RowScales& scales, const View& view, int index) {
    const bool has_scale = static_cast<int>(threadIdx.x) % 4 == index;
    scales.words[0] = has_scale ? view.word : 0;
    scales.words[1] = has_scale ? view.word_below : 0;
}

template <class S>
__device__ __forceinline__ void begin(Made<S>& made, const View& view, const RowScales& scales,
                                      int step) {
    const int index = step / S::parts, first = step % S::parts * S::part;
    pin(made.blocks);
    pin(made.scales);
    begin_products();
    multiply<S::a_type, S::b_type>(made.blocks, moved(view.a, index * block),
                                   moved(view.b, first * depth + index * block));
    multiply_scales(made.scales, scales.words, moved(view.scales_b, first * blocks_of_stage * 4));
    end_products();
}
// Waits until only so many are left in flight.
template <int left, class S>
__device__ __forceinline__ void finish(Made<S>& made) {
    wait_for_products<left>();
    pin(made.blocks);
    pin(made.scales);
}

// The scales of neighbours lie exchanged: an instruction whose three operands come from one bank of
// registers takes longer, and so the first two come from different ones.
template <class S>
__device__ __forceinline__ void promote(float (&sums)[S::columns / 2], int step,
                                        const Made<S>& made) {
    float* to = sums + step % S::parts * (S::part / 2);
#pragma unroll
    for (int i = 0; i < S::part / 2; ++i) to[i] = fmaf(made.blocks[i], made.scales[i ^ 1], to[i]);
}

__device__ __forceinline__ void give_back(Barrier& empty) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(empty);
}

// One part at a time. The stage is given back before its last part is promoted: nothing of it is
// read then.
template <class S>
__device__ __forceinline__ void add_stages_singly(float (&sums)[S::columns / 2],
                                                  const BlockJob& job, Shared<S>& shared, int group,
                                                  Turn<S>& turn) {
    for (int i = 0; i < job.stages; ++i, turn.advance()) {
        wait(shared.full[turn.stage], turn.phase);
        const View view = view_of(shared, turn.stage, group);
#pragma unroll
        for (int step = 0; step < S::steps; ++step) {
            Made<S> made;
            RowScales scales{};
            choose(scales, view, step / S::parts);
            begin(made, view, scales, step);
            finish<0>(made);
            if (step + 1 == S::steps) give_back(shared.empty[turn.stage]);
            promote<S>(sums, step, made);
        }
    }
}

// While one part is promoted the next is being made. The last stage has no next: in its place its
// own first part is made once more, and left.
template <class S>
__device__ __forceinline__ void add_stages_ahead(float (&sums)[S::columns / 2], const BlockJob& job,
                                                 Shared<S>& shared, int group, Turn<S>& turn) {
    static_assert(S::parts > 1, "a part ahead needs a second part");
    if (job.stages == 0) return;
    const std::uint32_t zero = *static_cast<const volatile std::uint32_t*>(&shared.zero);
    RowScales scales[2] = {{{0, 0, zero, zero}}, {{0, 0, zero, zero}}};
    Made<S> made[2];
    wait(shared.full[turn.stage], turn.phase);
    View view = view_of(shared, turn.stage, group), next;
    choose(scales[0], view, 0);
    begin(made[0], view, scales[0], 0);
    finish<0>(made[0]);
    for (int i = 0; i < job.stages; ++i) {
        Turn<S> then = turn;
        if (i + 1 < job.stages) then.advance();
#pragma unroll
        for (int step = 0; step < S::steps; ++step) {
            const int index = step / S::parts, after = (step + 1) / S::parts % blocks_of_stage;
            const bool is_last = step + 1 == S::steps;
            begin(made[(step + 1) % 2], is_last ? next : view, scales[after % 2],
                  (step + 1) % S::steps);
            finish<1>(made[step % 2]);
            if (step % S::parts == 0) {
                if (index + 1 == blocks_of_stage) {
                    wait(shared.full[then.stage], then.phase);
                    next = view_of(shared, then.stage, group);
                }
                choose(scales[(index + 1) % 2], index + 1 == blocks_of_stage ? next : view,
                       (index + 1) % blocks_of_stage);
            }
            promote<S>(sums, step, made[step % 2]);
        }
        finish<0>(made[0]);
        give_back(shared.empty[turn.stage]);
        view = next;
        turn = then;
    }
    turn.advance();
}

template <class S>
__device__ __forceinline__ void add_tile(float (&sums)[S::columns / 2], const BlockJob& job,
                                         Shared<S>& shared, int group, Turn<S>& turn) {
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sums[i] = 0;
    if constexpr (S::in_flight == 1)
        add_stages_singly<S>(sums, job, shared, group, turn);
    else
        add_stages_ahead<S>(sums, job, shared, group, turn);
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
// row r, the next two to the other. Whole tiles of D in pairs and without C, the usual ones, are
// written without a question for each pair.
template <class S, class Value>
__device__ void store_tile(const float (&sums)[S::columns / 2], const BlockJob& job, Tile tile,
                           int group) {
    const int lane = static_cast<int>(threadIdx.x) % warpgroup;
    const int row = tile.row * S::rows + group * rows_of_group + lane / 32 * 16 + lane % 32 / 4;
    const int column = tile.column * S::columns + lane % 4 * 2;
    const bool is_whole =
        (tile.row + 1) * S::rows <= job.rows && (tile.column + 1) * S::columns <= job.columns;
    if (is_whole && job.has_pairs && job.c.data == nullptr) {
        Value* const to = static_cast<Value*>(job.d.data) + row * job.d.row_stride + column;
#pragma unroll
        for (int i = 0; i < S::columns / 4; ++i)
            *reinterpret_cast<Pair<Value>*>(to + i % 2 * 8 * job.d.row_stride + i / 2 * 8) = {
                static_cast<Value>(finished(job.alpha, sums[i * 2], 0)),
                static_cast<Value>(finished(job.alpha, sums[i * 2 + 1], 0))};
        return;
    }
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
        shared.zero = 0;
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
