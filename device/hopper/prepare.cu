// See kernels.hpp: what is done before the products and after them.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "device/hopper/failure.hpp"
#include "device/hopper/kernels.hpp"
#include "device/hopper/scales.cuh"

namespace mx::hopper {
namespace {

constexpr int threads_per_block = 256;

unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
}

__device__ float value_of(Element element, std::uint8_t code) {
    const auto kind = element == Element::e4m3 ? __NV_E4M3 : __NV_E5M2;
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, kind)));
}

// One thread four neighbours. Their products with a scale are exact but beyond the range of
// binary32, where they are Inf, as in bfloat16.
__global__ void dequantise_all(Factor factor, std::int64_t depth, Values to) {
    const std::int64_t quads = to.row_stride / 4;
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= factor.rows * quads) return;
    const std::int64_t row = index / quads, first = index % quads * 4;
    auto* out = static_cast<__nv_bfloat16*>(to.data) + row * to.row_stride + first;
    const float scale = first < depth ? scale_of(scale_byte(factor.scales, row, first / block)) : 0;
    for (int i = 0; i < 4; ++i) {
        const bool is_inside = first + i < depth;
        const float value =
            is_inside
                ? value_of(factor.element, factor.codes[row * factor.row_stride + first + i]) *
                      scale
                : 0;
        out[i] = __float2bfloat16_rn(value);
    }
}

__global__ void gather_all(Factor factor, std::int64_t blocks, Values to) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t row = index % to.row_stride, at = index / to.row_stride;
    if (at >= blocks) return;
    const float scale = row < factor.rows ? scale_of(scale_byte(factor.scales, row, at)) : 0;
    static_cast<float*>(to.data)[index] = scale;
}

template <class Value>
__global__ void finish_all(Product product, Values sums) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t row = index / product.b.rows, column = index % product.b.rows;
    if (row >= product.a.rows) return;
    float addend = 0;
    if (product.c.data != nullptr)
        addend = product.beta * static_cast<float>(static_cast<const Value*>(
                                    product.c.data)[row * product.c.row_stride + column]);
    const float sum = static_cast<const float*>(sums.data)[row * sums.row_stride + column];
    static_cast<Value*>(product.d.data)[row * product.d.row_stride + column] =
        static_cast<Value>(finished(product.alpha, sum, addend));
}

}  // namespace

void dequantise(const Factor& factor, std::int64_t depth, Values to, cudaStream_t stream) {
    dequantise_all<<<blocks_for(factor.rows * (to.row_stride / 4)), threads_per_block, 0, stream>>>(
        factor, depth, to);
    check(cudaGetLastError(), "dequantising");
}

void gather_columns(const Factor& factor, std::int64_t depth, Values to, cudaStream_t stream) {
    const std::int64_t blocks = blocks_in(depth);
    gather_all<<<blocks_for(blocks * to.row_stride), threads_per_block, 0, stream>>>(factor, blocks,
                                                                                     to);
    check(cudaGetLastError(), "gathering scales");
}

void finish(const Product& product, Values sums, cudaStream_t stream) {
    const unsigned blocks = blocks_for(product.a.rows * product.b.rows);
    if (product.output == Output::f32)
        finish_all<float><<<blocks, threads_per_block, 0, stream>>>(product, sums);
    else
        finish_all<__nv_bfloat16><<<blocks, threads_per_block, 0, stream>>>(product, sums);
    check(cudaGetLastError(), "finishing");
}

}  // namespace mx::hopper
