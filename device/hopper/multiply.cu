// See kernels.hpp: the forms of the kernel, what they are given, and the launch.
#include "device/hopper/multiply.cuh"

#include <algorithm>
#include <array>

#include "device/hopper/failure.hpp"
#include "device/hopper/scales.cuh"

namespace mx::hopper {
namespace {

// How scales lie for the kernel: of a tile's rows one after another the four of a stage, for one
// stage after another. Where a row ends within a stage, `beyond` stands for its scales.
struct ScaleOrder {
    int tile;      // rows
    int exchange;  // 1: neighbours change places
    float beyond;
};
struct ScaleJob {
    Factor factor;
    ScaleOrder order;
    std::int64_t blocks, lines;  // of one row: there are, and there is room for
    std::int64_t count;          // of all rows that have room
    float* to;
};
struct ScaleJobs {
    ScaleJob of[2];  // A, B
};
__global__ void gather_scales(const ScaleJobs jobs) {
    const ScaleJob& job = jobs.of[blockIdx.y];
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= job.count) return;
    const std::int64_t row = index / job.lines, at = index % job.lines;
    const std::int64_t tile = row / job.order.tile, within = row % job.order.tile;
    float scale = 0;
    if (row < job.factor.rows)
        scale =
            at < job.blocks ? scale_of(scale_byte(job.factor.scales, row, at)) : job.order.beyond;
    const std::int64_t stage = tile * (job.lines / blocks_of_stage) + at / blocks_of_stage;
    const std::int64_t place = stage * job.order.tile + (within ^ job.order.exchange);
    job.to[place * blocks_of_stage + at % blocks_of_stage] = scale;
}

std::int64_t lines_of(std::int64_t product_depth) {
    return rounded_up(blocks_in(product_depth), blocks_of_stage);
}

ScaleJob scale_job(const Factor& factor, std::int64_t product_depth, ScaleOrder order, float* to) {
    const std::int64_t lines = lines_of(product_depth);
    return {
        factor, order, blocks_in(product_depth), lines, rounded_up(factor.rows, order.tile) * lines,
        to};
}

void gather(const ScaleJobs& jobs, cudaStream_t stream) {
    constexpr int threads = 256;
    const std::int64_t most = std::max(jobs.of[0].count, jobs.of[1].count);
    const dim3 blocks(static_cast<unsigned>((most + threads - 1) / threads), 2);
    gather_scales<<<blocks, threads, 0, stream>>>(jobs);
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

// Can two neighbours of a row of D be written at once?
bool has_pairs(const Product& product) {
    const std::uintptr_t bytes = product.output == Output::f32 ? 8 : 4;
    return reinterpret_cast<std::uintptr_t>(product.d.data) % bytes == 0 &&
           product.d.row_stride % 2 == 0;
}

template <class S>
BlockJob job_of(const Product& product) {
    BlockJob job{};
    job.rows = static_cast<int>(product.a.rows);
    job.columns = static_cast<int>(product.b.rows);
    job.stages = static_cast<int>(lines_of(product.depth) / blocks_of_stage);
    job.tile_rows = (job.rows + S::rows - 1) / S::rows;
    job.tile_columns = (job.columns + S::columns - 1) / S::columns;
    job.alpha = product.alpha;
    job.beta = product.beta;
    job.output = product.output;
    job.has_pairs = has_pairs(product);
    job.c = product.c;
    job.d = product.d;
    return job;
}

// Beyond K blocks are +0, and -1 times that is -0, which leaves every sum as it is, -0 too.
template <class S>
void launch_shape(const Product& product, void* workspace, cudaStream_t stream) {
    auto* scales_a = static_cast<float*>(workspace);
    float* scales_b = scales_a + rounded_up(product.a.rows, S::rows) * lines_of(product.depth);
    gather({scale_job(product.a, product.depth, {S::rows, 0, 1}, scales_a),
            scale_job(product.b, product.depth, {S::columns, 1, -1}, scales_b)},
           stream);
    BlockJob job = job_of<S>(product);
    job.scales_a = scales_a;
    job.scales_b = scales_b;
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

template <class Form>
void launch(const Product& product, void* workspace, cudaStream_t stream) {
    const bool a_is_e4m3 = product.a.element == Element::e4m3;
    const bool b_is_e4m3 = product.b.element == Element::e4m3;
    constexpr Fp8 e4m3 = Fp8::e4m3, e5m2 = Fp8::e5m2;
    const auto shaped = a_is_e4m3 ? (b_is_e4m3 ? launch_shape<Shape<e4m3, e4m3, Form>>
                                               : launch_shape<Shape<e4m3, e5m2, Form>>)
                                  : (b_is_e4m3 ? launch_shape<Shape<e5m2, e4m3, Form>>
                                               : launch_shape<Shape<e5m2, e5m2, Form>>);
    shaped(product, workspace, stream);
}

template <class Form>
constexpr BlockKernel kernel_of(std::string_view name) {
    return {name, Form::rows, Form::columns, launch<Form>};
}
constexpr std::array kernels{
    kernel_of<Form<3, 128, 64, 1, 5>>("192x128, one part at a time"),
    kernel_of<Form<2, 128, 64, 2, 6>>("128x128, two parts in flight"),
};

// The outputs that a multiprocessor works for, those beyond the edges of D included, where tiles
// are dealt out evenly.
std::int64_t outputs_of_one(const BlockKernel& kernel, const Product& product) {
    const std::int64_t tiles = (product.a.rows + kernel.rows - 1) / kernel.rows *
                               ((product.b.rows + kernel.columns - 1) / kernel.columns);
    return rounded_up(tiles, multiprocessors()) / multiprocessors() * kernel.rows * kernel.columns;
}

}  // namespace

BlockKernels block_kernels() {
    return {kernels.data(), kernels.size()};
}

const BlockKernel& block_kernel_for(const Product& product) {
    return *std::min_element(kernels.begin(), kernels.end(),
                             [&](const BlockKernel& a, const BlockKernel& b) {
                                 return outputs_of_one(a, product) < outputs_of_one(b, product);
                             });
}

std::int64_t block_kernel_bytes(const Product& product) {
    constexpr std::int64_t most_beyond = 2 * 192;  // rows of tiles that have no rows of A or B
    return (product.a.rows + product.b.rows + most_beyond) * lines_of(product.depth) * 4;
}

const char* unreadable(const Factor& factor) {
    if (reinterpret_cast<std::uintptr_t>(factor.codes) % 16 != 0)
        return "do not begin at a multiple of 16 bytes";
    if (factor.row_stride % 16 != 0) return "do not lie multiples of 16 bytes apart";
    return "";
}

}  // namespace mx::hopper
