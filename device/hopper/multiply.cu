// See kernels.hpp: the forms of the kernel, what they are given, and the launch.
#include "device/hopper/multiply.cuh"

#include <algorithm>
#include <array>

#include "device/hopper/failure.hpp"
#include "device/hopper/scales.cuh"

namespace mx::hopper {
namespace {

// Rows that have room in the scales: no tile has more than 256, the last begins within the matrix.
std::int64_t row_room(std::int64_t rows) {
    return rounded_up(rows, scale_tile) + 256 - scale_tile;
}

// Where the scale of a row stands among its tile's, so that a thread finds those that it needs side
// by side: rows r and r + 8; of sixteen columns the pairs 2q and 2q + 8.
enum class ScaleOrder { of_rows, of_columns };
__device__ int place_of(ScaleOrder order, int row) {
    const int of_eight = row % 8, second = row % 16 / 8;
    const int place = order == ScaleOrder::of_rows ? of_eight * 2 + second
                                                   : of_eight / 2 * 4 + second * 2 + of_eight % 2;
    return row / 16 * 16 + place;
}

struct TileJob {
    Factor factor;
    std::int64_t blocks, lines;  // of one row: there are, and there is room for
    std::int64_t row_room;
    ScaleOrder order;
    float* to;
};
__global__ void gather_tiles(TileJob job) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t tile = index / (job.lines * scale_tile);
    const std::int64_t at = index / scale_tile % job.lines;
    const int within = static_cast<int>(index % scale_tile);
    const std::int64_t row = tile * scale_tile + within;
    if (row >= job.row_room) return;
    const bool is_inside = row < job.factor.rows && at < job.blocks;
    job.to[(tile * job.lines + at) * scale_tile + place_of(job.order, within)] =
        is_inside ? scale_of(scale_byte(job.factor.scales, row, at)) : 0;
}

std::int64_t lines_of(std::int64_t product_depth) {
    return rounded_up(blocks_in(product_depth), blocks_of_stage);
}
std::int64_t scale_floats(const Factor& factor, std::int64_t product_depth) {
    return row_room(factor.rows) * lines_of(product_depth);
}

void gather(const Factor& factor, std::int64_t product_depth, ScaleOrder order, float* to,
            cudaStream_t stream) {
    constexpr int threads = 256;
    const std::int64_t count = scale_floats(factor, product_depth);
    gather_tiles<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(
        {factor, blocks_in(product_depth), lines_of(product_depth), row_room(factor.rows), order,
         to});
    check(cudaGetLastError(), "gathering scales");
}

// The driver's function; the driver itself is not linked.
using Encoder = decltype(&cuTensorMapEncodeTiled);
Encoder encoder() {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result),
          "asking the driver for cuTensorMapEncodeTiled");
    if (found == nullptr) check(cudaErrorSymbolNotFound, "asking the driver for tensor maps");
    return reinterpret_cast<Encoder>(found);
}

// Boxes of 128 bytes along K by so many rows, swizzled as wgmma reads them.
CUtensorMap map_of(const Factor& factor, std::int64_t product_depth, int rows) {
    CUtensorMap map{};
    const cuuint64_t extents[2] = {static_cast<cuuint64_t>(product_depth),
                                   static_cast<cuuint64_t>(factor.rows)};
    const cuuint64_t strides[1] = {static_cast<cuuint64_t>(factor.row_stride)};
    const cuuint32_t box[2] = {depth, static_cast<cuuint32_t>(rows)};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult made = encoder()(
        &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(factor.codes), extents,
        strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) check(cudaErrorInvalidValue, "making a tensor map");
    return map;
}

int multiprocessors() {
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "finding the GPU");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    return count;
}

template <class S>
void launch_shape(const Product& product, void* workspace, cudaStream_t stream) {
    auto* scales_a = static_cast<float*>(workspace);
    float* scales_b = scales_a + scale_floats(product.a, product.depth);
    gather(product.a, product.depth, ScaleOrder::of_rows, scales_a, stream);
    gather(product.b, product.depth, ScaleOrder::of_columns, scales_b, stream);
    BlockJob job{};
    job.rows = static_cast<int>(product.a.rows);
    job.columns = static_cast<int>(product.b.rows);
    job.blocks = static_cast<int>(blocks_in(product.depth));
    job.stages = static_cast<int>(lines_of(product.depth) / blocks_of_stage);
    job.tile_rows = (job.rows + S::rows - 1) / S::rows;
    job.tile_columns = (job.columns + S::columns - 1) / S::columns;
    job.scales_a = scales_a;
    job.scales_b = scales_b;
    job.alpha = product.alpha;
    job.beta = product.beta;
    job.output = product.output;
    job.c = product.c;
    job.d = product.d;
    constexpr int bytes = sizeof(Shared<S>) + 1024;
    check(cudaFuncSetAttribute(multiply_blocks<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes),
          "asking for shared memory");
    const int blocks = std::min(multiprocessors(), job.tile_rows * job.tile_columns);
    multiply_blocks<S>
        <<<blocks, S::threads, bytes, stream>>>(job, map_of(product.a, product.depth, S::rows),
                                                map_of(product.b, product.depth, S::columns));
    check(cudaGetLastError(), "multiplying");
}

template <int groups, int columns, int part, int buffers, int stages, Work work = Work::everything>
void launch(const Product& product, void* workspace, cudaStream_t stream) {
    const bool a_is_e4m3 = product.a.element == Element::e4m3;
    const bool b_is_e4m3 = product.b.element == Element::e4m3;
    constexpr Fp8 e4m3 = Fp8::e4m3, e5m2 = Fp8::e5m2;
    const auto shaped =
        a_is_e4m3
            ? (b_is_e4m3
                   ? launch_shape<Shape<work, e4m3, e4m3, groups, columns, part, buffers, stages>>
                   : launch_shape<Shape<work, e4m3, e5m2, groups, columns, part, buffers, stages>>)
            : (b_is_e4m3
                   ? launch_shape<Shape<work, e5m2, e4m3, groups, columns, part, buffers, stages>>
                   : launch_shape<Shape<work, e5m2, e5m2, groups, columns, part, buffers, stages>>);
    shaped(product, workspace, stream);
}

constexpr std::array kernels{
    BlockKernel{"128x256, parts of 128, 1 in flight, 4 stages", launch<2, 256, 128, 1, 4>},
    BlockKernel{"128x256, parts of 64, 2 in flight, 4 stages", launch<2, 256, 64, 2, 4>},
    BlockKernel{"128x256, parts of 64, 1 in flight, 4 stages", launch<2, 256, 64, 1, 4>},
    BlockKernel{"128x128, parts of 128, 1 in flight, 6 stages", launch<2, 128, 128, 1, 6>},
    BlockKernel{"192x128, parts of 64, 2 in flight, 5 stages", launch<3, 128, 64, 2, 5>},
    BlockKernel{"192x128, parts of 64, 1 in flight, 5 stages", launch<3, 128, 64, 1, 5>},
    BlockKernel{"128x256 by 128, products alone", launch<2, 256, 128, 1, 4, Work::products>, true},
    BlockKernel{"128x256 by 128, promotion alone", launch<2, 256, 128, 1, 4, Work::promotion>,
                true},
    BlockKernel{"128x256 by 128, one instruction", launch<2, 256, 128, 1, 4, Work::fused_alone>,
                true},
    BlockKernel{"192x128 by 64, products alone", launch<3, 128, 64, 1, 5, Work::products>, true},
    BlockKernel{"192x128 by 64, promotion alone", launch<3, 128, 64, 1, 5, Work::promotion>, true},
};

}  // namespace

BlockKernels block_kernels() {
    return {kernels.data(), kernels.size()};
}

std::int64_t block_kernel_bytes(const Product& product) {
    return (scale_floats(product.a, product.depth) + scale_floats(product.b, product.depth)) * 4;
}

const char* unreadable(const Factor& factor) {
    if (reinterpret_cast<std::uintptr_t>(factor.codes) % 16 != 0)
        return "do not begin at a multiple of 16 bytes";
    if (factor.row_stride % 16 != 0) return "do not lie multiples of 16 bytes apart";
    return "";
}

}  // namespace mx::hopper
