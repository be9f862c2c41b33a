// Quantizing NVFP4 along memory: a thread takes blocks of 16 values, a block at a time, loads them
// before the first use and stores the 8 bytes of their codes. Two orders of the work, for the sake
// of the scales, so that each is stored in whole sectors:
//
// - by two strides: a warp takes 32 blocks that follow one another on a line, and stores a scale
//   byte a thread, side by side;
// - in tiles of 128 x 4: a thread block takes the 128 lines and 4 blocks of a tile, whose scales
//   cross shared memory.
#include "device/cuda/launch.hpp"
#include "device/cuda/memory.cuh"
#include "device/cuda/nvfp4.cuh"
#include "device/cuda/parts.cuh"

namespace mx::cuda {
namespace {

constexpr int line_warps_log2 = 3;
constexpr int line_threads = threads_of<line_warps_log2>;

// Of a thread: 128 bytes are on their way at once, and what is the same for all blocks is paid
// once.
template <ValueType type>
constexpr int blocks_each = 128 / (16 * width_of(type));
template <ValueType type>
constexpr std::int64_t block_bytes = 16 * width_of(type);
constexpr std::int64_t code_bytes = 8;  // of a block

template <ValueType type>
using BlockPart = Part<nvfp4_words<type>>;

// What a kernel reads of a job.
struct Nvfp4Job {
    Extent blocks;  // lines, and blocks of each
    const std::uint8_t* values;
    std::int64_t line_bytes;
    std::uint8_t* codes;
    std::int64_t code_line_bytes;
    ScalePlane scales;
    NumberSource source;
    const std::uint8_t* number;  // by its bytes: it may lie anywhere
    const std::uint32_t* amax;
    std::uint8_t* kept;
};

template <Nvfp4Rule rule, ValueType type>
__device__ BlockSetting setting_of(const Nvfp4Job& job) {
    constexpr RealScaleRule steps = rule_of<rule>();
    BlockSetting setting{steps, Element::e2m1, type, {0, 1, 1}};
    if constexpr (steps.number != TensorNumber::none) {
        std::uint32_t number = 0;
        if (job.source == NumberSource::derived)
            number = *job.amax;
        else
            number = load_value<ValueType::f32>(job.number);
        setting.tensor = tensor_numbers(steps, Element::e2m1, float_of(number));
        if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
            const std::uint32_t kept = bits_of(kept_number(steps, setting.tensor));
            for (int i = 0; i < 4; ++i) job.kept[i] = static_cast<std::uint8_t>(kept >> (8 * i));
        }
    }
    return setting;
}

template <Nvfp4Rule rule, ValueType type>
__global__ void __launch_bounds__(line_threads) quantize_lines(Nvfp4Job job, int across_log2) {
    constexpr int each = blocks_each<type>;
    const WarpPlace place = warp_place<line_warps_log2>(across_log2);
    const std::int64_t first = place.strip * (each * warp_lanes) + place.lane;
    BlockSetting setting;
    bool has_setting = false;
    for (std::int64_t line = place.line; line < job.blocks.lines; line += place.line_step) {
        const std::uint8_t* values = job.values + line * job.line_bytes + first * block_bytes<type>;
        std::uint8_t* codes = job.codes + line * job.code_line_bytes + first * code_bytes;
        BlockPart<type> parts[each] = {};
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (first + i * warp_lanes < job.blocks.lanes)
                load(values + i * (warp_lanes * block_bytes<type>), parts[i]);
        if (!has_setting) setting = setting_of<rule, type>(job);
        has_setting = true;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const std::int64_t block = first + i * warp_lanes;
            if (block >= job.blocks.lanes) continue;
            const Nvfp4Codes made = nvfp4_codes<type>(setting, parts[i].words);
            store(codes + i * (warp_lanes * code_bytes), uint2{made.low, made.high});
            job.scales.data[line * job.scales.line_stride + block * job.scales.block_stride] =
                made.scale;
        }
    }
}

constexpr int tile_lines = 128, tile_blocks = 4;
constexpr int tile_threads = tile_lines * tile_blocks;
constexpr int tile_bytes = tile_threads;

// Where a thread's scale lies in its tile.
__device__ int place_in_tile(int line, int block) {
    return line % 32 * 16 + line / 32 * 4 + block;
}

template <Nvfp4Rule rule, ValueType type>
__global__ void __launch_bounds__(tile_threads, 2) quantize_tiles(Nvfp4Job job) {
    constexpr int each = blocks_each<type>;
    __shared__ alignas(16) std::uint8_t scales[each * tile_bytes];
    const int thread = static_cast<int>(threadIdx.x);
    const int line_of_tile = thread / tile_blocks, block_of_tile = thread % tile_blocks;
    const std::int64_t first_tile = std::int64_t{blockIdx.x} * each;
    const std::int64_t first = first_tile * tile_blocks + block_of_tile;
    const std::int64_t tile_rows = (job.blocks.lines + tile_lines - 1) / tile_lines;
    BlockSetting setting;
    bool has_setting = false;
    for (std::int64_t row = blockIdx.y; row < tile_rows; row += gridDim.y) {
        const std::int64_t line = row * tile_lines + line_of_tile;
        const auto is_there = [&](int i) {
            return line < job.blocks.lines && first + i * tile_blocks < job.blocks.lanes;
        };
        const std::uint8_t* values = job.values + line * job.line_bytes + first * block_bytes<type>;
        std::uint8_t* codes = job.codes + line * job.code_line_bytes + first * code_bytes;
        BlockPart<type> parts[each] = {};
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (is_there(i)) load(values + i * (tile_blocks * block_bytes<type>), parts[i]);
        if (!has_setting) setting = setting_of<rule, type>(job);
        has_setting = true;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            std::uint8_t scale = 0;  // of a pad
            if (is_there(i)) {
                const Nvfp4Codes made = nvfp4_codes<type>(setting, parts[i].words);
                store(codes + i * (tile_blocks * code_bytes), uint2{made.low, made.high});
                scale = made.scale;
            }
            scales[i * tile_bytes + place_in_tile(line_of_tile, block_of_tile)] = scale;
        }
        __syncthreads();
        const std::int64_t tile = row * job.scales.tiles_across + first_tile + thread / 32;
        if (thread < 32 * each && first_tile + thread / 32 < job.scales.tiles_across)
            store(job.scales.data + tile * tile_bytes + thread % 32 * 16,
                  *reinterpret_cast<const uint4*>(scales + thread * 16));
        __syncthreads();
    }
}

template <Nvfp4Rule rule, ValueType type>
void start_as(const Nvfp4Job& job, cudaStream_t stream) {
    constexpr int each = blocks_each<type>;
    if (job.scales.order == ScaleOrder::strided) {
        const std::int64_t strip = each * warp_lanes;
        const Tiling tiling =
            tiling_of<line_warps_log2>({job.blocks.lines, (job.blocks.lanes + strip - 1) / strip});
        quantize_lines<rule, type>
            <<<tiling.grid, line_threads, 0, stream>>>(job, tiling.across_log2);
    } else {
        const std::int64_t across = (job.scales.tiles_across + each - 1) / each;
        const std::int64_t down = (job.blocks.lines + tile_lines - 1) / tile_lines;
        const dim3 grid(static_cast<unsigned>(across),
                        static_cast<unsigned>(down < grid_y_max ? down : grid_y_max));
        quantize_tiles<rule, type><<<grid, tile_threads, 0, stream>>>(job);
    }
}

template <Nvfp4Rule rule>
void start(const Nvfp4Job& job, ValueType type, cudaStream_t stream) {
    if (type == ValueType::f32) start_as<rule, ValueType::f32>(job, stream);
    if (type == ValueType::bf16) start_as<rule, ValueType::bf16>(job, stream);
}

// The amax of long lines: a thread block takes 64 bytes a thread of a line at a time, and there are
// only so many thread blocks, each of which ends with one atomic operation.
constexpr int amax_threads = 256;
constexpr std::int64_t amax_blocks = 2048;
constexpr int amax_loads = 4;
constexpr std::int64_t run_bytes = amax_threads * 16 * amax_loads;

struct AmaxJob {
    const std::uint8_t* values;
    std::int64_t line_bytes;   // from line to line
    std::int64_t value_bytes;  // of a line
    std::int64_t runs_across;
    std::int64_t runs;
    NanInAmax nan_in_amax;
    std::uint32_t* amax;
};

template <ValueType type>
__device__ std::uint32_t counted_magnitudes(NanInAmax rule, std::uint32_t word) {
    const std::uint32_t magnitude = magnitudes<type>(word);
    return rule == NanInAmax::left_out ? without_nan<type>(magnitude) : magnitude;
}

template <ValueType type>
__global__ void __launch_bounds__(amax_threads) find_amax(AmaxJob job) {
    __shared__ std::uint32_t of_warps[amax_threads / warp_lanes];
    std::uint32_t largest = 0;
    for (std::int64_t run = blockIdx.x; run < job.runs; run += gridDim.x) {
        const std::int64_t line = job.runs_across == 1 ? run : run / job.runs_across;
        const std::int64_t first = (run - line * job.runs_across) * run_bytes + threadIdx.x * 16;
        const std::uint8_t* values = job.values + line * job.line_bytes + first;
        Part<4> parts[amax_loads] = {};
#pragma unroll
        for (int i = 0; i < amax_loads; ++i)
            if (first + i * (amax_threads * 16) < job.value_bytes)
                load(values + i * (amax_threads * 16), parts[i]);
#pragma unroll
        for (const Part<4>& part : parts)
#pragma unroll
            for (const std::uint32_t word : part.words)
                largest = larger<type>(largest, counted_magnitudes<type>(job.nan_in_amax, word));
    }
    const std::uint32_t bits =
        __reduce_max_sync(0xFFFFFFFFu, f32_bits<type>(folded<type>(largest)));
    if (threadIdx.x % warp_lanes == 0) of_warps[threadIdx.x / warp_lanes] = bits;
    __syncthreads();
    if (threadIdx.x != 0) return;
    std::uint32_t of_block = 0;
    for (const std::uint32_t of_warp : of_warps) of_block = max(of_block, of_warp);
    atomicMax(job.amax, of_block);
}

}  // namespace

cudaError_t quantize_nvfp4_rows(const RealScaleJob& job, const std::uint32_t* amax,
                                cudaStream_t stream) {
    const Nvfp4Job asked{{job.extent.lines, job.extent.lanes / nvfp4_lanes},
                         job.values.data,
                         job.values.line_stride * width_of(job.value_type),
                         job.codes.data,
                         job.codes.row_bytes,
                         job.scales.plane,
                         job.source,
                         job.number,
                         amax,
                         job.kept};
    switch (find_nvfp4_rule(job.rule)) {
        case Nvfp4Rule::te:
            start<Nvfp4Rule::te>(asked, job.value_type, stream);
            break;
        case Nvfp4Rule::torchao:
            start<Nvfp4Rule::torchao>(asked, job.value_type, stream);
            break;
        case Nvfp4Rule::torchao_single:
            start<Nvfp4Rule::torchao_single>(asked, job.value_type, stream);
            break;
        case Nvfp4Rule::cublaslt:
            start<Nvfp4Rule::cublaslt>(asked, job.value_type, stream);
            break;
        case Nvfp4Rule::none:
            return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

cudaError_t find_nvfp4_amax(const RealScaleJob& job, std::uint32_t* amax, cudaStream_t stream) {
    const std::int64_t width = width_of(job.value_type);
    const std::int64_t value_bytes = job.extent.lanes * width;
    const std::int64_t across = (value_bytes + run_bytes - 1) / run_bytes;
    const std::int64_t runs = across * job.extent.lines;
    const AmaxJob asked{job.values.data,
                        job.values.line_stride * width,
                        value_bytes,
                        across,
                        runs,
                        job.rule.nan_in_amax,
                        amax};
    const auto blocks = static_cast<unsigned>(runs < amax_blocks ? runs : amax_blocks);
    if (job.value_type == ValueType::f32)
        find_amax<ValueType::f32><<<blocks, amax_threads, 0, stream>>>(asked);
    else
        find_amax<ValueType::bf16><<<blocks, amax_threads, 0, stream>>>(asked);
    return cudaGetLastError();
}

}  // namespace mx::cuda
