// The kernels of this device, as functions that put launches on a stream and return. Used by
// ways.cpp and the benchmark. Must not know the device ABI.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

namespace mx::hopper {

constexpr int block = 32;  // elements that share a scale

constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t unit) {
    return (count + unit - 1) / unit * unit;
}
constexpr std::int64_t blocks_in(std::int64_t depth) {
    return (depth + block - 1) / block;
}

enum class Element { e4m3, e5m2 };
enum class Output { f32, bf16 };

// E8M0 scales, one for each block of each row.
struct Scales {
    const std::uint8_t* data = nullptr;
    bool is_tiled = false;  // layout "128x4" of the device ABI
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;
    std::int64_t tiles_along = 0;  // of four blocks, where is_tiled
};

// Row-major, one byte a code; the stride in bytes.
struct Factor {
    const std::uint8_t* codes = nullptr;
    Element element = Element::e4m3;
    std::int64_t rows = 0;
    std::int64_t row_stride = 0;
    Scales scales;
};

// Row-major; the stride in elements.
struct Values {
    void* data = nullptr;
    std::int64_t row_stride = 0;
};

// D = alpha * A * B^T + beta * C. C has D's type; its data is NULL where beta is 0.
struct Product {
    Factor a, b;
    std::int64_t depth = 0;  // K
    float alpha = 1, beta = 0;
    Output output = Output::f32;
    Values c, d;
};

// Codes times scales as bfloat16, rounded to nearest even where that does not hold them, with zeros
// up to `row_stride`.
void dequantise(const Factor& factor, std::int64_t depth, Values to, cudaStream_t stream);

// Scales as binary32, those of one block side by side: block b of row r is at b * stride + r.
void gather_columns(const Factor& factor, std::int64_t depth, Values to, cudaStream_t stream);

// Bytes that gather_columns writes with this stride.
constexpr std::int64_t column_bytes(std::int64_t stride, std::int64_t depth) {
    return blocks_in(depth) * stride * 4;
}

// D from sums, as Product has it; a +0 stands for C where there is none.
void finish(const Product& product, Values sums, cudaStream_t stream);

// The kernel of multiply.cuh in its forms, which give equal bits.
struct BlockKernel {
    std::string_view name;       // "192x128"
    std::int64_t rows, columns;  // of its tiles
    void (*launch)(const Product& product, void* workspace, cudaStream_t stream);
};
struct BlockKernels {
    const BlockKernel* first;
    std::size_t count;
};
BlockKernels block_kernels();
// The form whose tiles fill the GPU best.
const BlockKernel& block_kernel_for(const Product& product);

// Bytes of the workspace that a block kernel wants.
std::int64_t block_kernel_bytes(const Product& product);

// What the copy engine cannot read, as a sentence about rows of `name`; "" where it can.
const char* unreadable(const Factor& factor);

}  // namespace mx::hopper
