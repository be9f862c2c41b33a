// The kernels that take every case: any strides, any alignment, blocks of any shape, every element
// format. One thread quantizes one block, or dequantizes or converts one element.
#include "device/cuda/blocks.cuh"
#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.hpp"

namespace mx::cuda {
namespace {

constexpr int threads = 256;

unsigned blocks_for(std::int64_t count) {
    constexpr std::int64_t most = 1 << 20;  // the kernels loop over the rest
    const std::int64_t wanted = (count + threads - 1) / threads;
    return static_cast<unsigned>(wanted < most ? wanted : most);
}

__device__ std::int64_t first_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}
__device__ std::int64_t item_step() {
    return static_cast<std::int64_t>(gridDim.x) * threads;
}

// Item number i of a grid, the direction that memory runs in first.
__device__ Extent cell_of(std::int64_t item, Extent grid, const Plane& plane) {
    if (plane.lane_stride <= plane.line_stride) return {item / grid.lanes, item % grid.lanes};
    return {item % grid.lines, item / grid.lines};
}

template <ValueType type>
__global__ void quantize_blocks(BlockJob job) {
    const Extent grid = block_grid(job);
    for (std::int64_t i = first_item(); i < grid.lines * grid.lanes; i += item_step())
        quantize_block_of<type>(job, cell_of(i, grid, job.values));
}

template <ValueType type>
__global__ void dequantize_elements(BlockJob job) {
    const std::int64_t count = job.extent.lines * job.extent.lanes;
    for (std::int64_t i = first_item(); i < count; i += item_step())
        dequantize_element_of<type>(job, cell_of(i, job.extent, job.values));
}

template <ValueType type>
__global__ void convert_elements(ConvertJob job) {
    const std::int64_t count = job.extent.lines * job.extent.lanes;
    const Encoding how{grid_of(job.element), job.nan_code, job.overflow};
    for (std::int64_t i = first_item(); i < count; i += item_step()) {
        const Extent at = cell_of(i, job.extent, job.values);
        const float value = value_of<type>(value_at<type>(job.values, at), 0);
        std::uint8_t code = 0;
        // The instructions saturate; what does not is arithmetic.
        if (job.overflow == Overflow::saturate && job.element == Element::e4m3)
            code = static_cast<std::uint8_t>(fp8_pair<Element::e4m3>(value, 0.0f));
        else if (job.overflow == Overflow::saturate && job.element == Element::e5m2)
            code = static_cast<std::uint8_t>(fp8_pair<Element::e5m2>(value, 0.0f));
        else
            code = element_code(how, value);
        *byte_of(job.codes, at, 1) = code;
    }
}

template <ValueType type>
__global__ void encode_each(EncodeScaleJob job) {
    const std::int64_t count = job.extent.lines * job.extent.lanes;
    for (std::int64_t i = first_item(); i < count; i += item_step()) {
        const Extent at = cell_of(i, job.extent, job.values);
        const std::uint32_t amax = magnitudes<type>(value_at<type>(job.values, at));
        *byte_of(job.scales, at, 1) = scale_of(job.rule, f32_bits<type>(amax));
    }
}

__global__ void zero_pad_bytes(ScalePlane scales, Extent grid) {
    const Extent padded = padded_grid(scales, grid);
    for (std::int64_t i = first_item(); i < padded.lines * padded.lanes; i += item_step())
        clear_if_pad(scales, grid, {i / padded.lanes, i % padded.lanes});
}

__device__ int path_has_scale_conversion;
__global__ void tell_code_path() {
    path_has_scale_conversion = MX_CUDA_HAS_SCALE_CONVERSION;
}

// Starts the kernel of an input type over `count` items.
template <typename Job>
struct Kernels {
    void (*f32)(Job);
    void (*bf16)(Job);
    void (*f16)(Job);
};
template <typename Job>
cudaError_t start(const Kernels<Job>& kernels, ValueType type, std::int64_t count, const Job& job,
                  cudaStream_t stream) {
    if (count <= 0) return cudaSuccess;
    auto* kernel = type == ValueType::f32    ? kernels.f32
                   : type == ValueType::bf16 ? kernels.bf16
                                             : kernels.f16;
    kernel<<<blocks_for(count), threads, 0, stream>>>(job);
    return cudaGetLastError();
}

std::int64_t count_of(Extent extent) {
    return extent.lines * extent.lanes;
}

}  // namespace

cudaError_t quantize_any(const BlockJob& job, cudaStream_t stream) {
    return start({quantize_blocks<ValueType::f32>, quantize_blocks<ValueType::bf16>,
                  quantize_blocks<ValueType::f16>},
                 job.recipe.value_type, count_of(block_grid(job)), job, stream);
}

cudaError_t dequantize_any(const BlockJob& job, cudaStream_t stream) {
    return start({dequantize_elements<ValueType::f32>, dequantize_elements<ValueType::bf16>,
                  dequantize_elements<ValueType::f16>},
                 job.recipe.value_type, count_of(job.extent), job, stream);
}

cudaError_t convert(const ConvertJob& job, cudaStream_t stream) {
    return start({convert_elements<ValueType::f32>, convert_elements<ValueType::bf16>,
                  convert_elements<ValueType::f16>},
                 job.value_type, count_of(job.extent), job, stream);
}

cudaError_t encode_scales(const EncodeScaleJob& job, cudaStream_t stream) {
    return start(
        {encode_each<ValueType::f32>, encode_each<ValueType::bf16>, encode_each<ValueType::f16>},
        job.value_type, count_of(job.extent), job, stream);
}

cudaError_t zero_pads(const ScalePlane& scales, Extent grid, cudaStream_t stream) {
    const std::int64_t padded = count_of(padded_grid(scales, grid));
    if (padded == count_of(grid)) return cudaSuccess;
    zero_pad_bytes<<<blocks_for(padded), threads, 0, stream>>>(scales, grid);
    return cudaGetLastError();
}

cudaError_t find_code_path(CodePath& path) {
    cudaFuncAttributes attributes{};
    cudaError_t error = cudaFuncGetAttributes(&attributes, tell_code_path);
    if (error != cudaSuccess) return error;
    tell_code_path<<<1, 1>>>();
    error = cudaGetLastError();
    int has_conversion = 0;
    if (error == cudaSuccess)
        error =
            cudaMemcpyFromSymbol(&has_conversion, path_has_scale_conversion, sizeof has_conversion);
    path = {attributes.binaryVersion, has_conversion != 0};
    return error;
}

}  // namespace mx::cuda
