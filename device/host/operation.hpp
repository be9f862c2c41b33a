// What is asked of a device, and the shape of a tensor: the C++ form of mx_operation and mx_tensor.
// Used by everything that talks to a device; knows nothing of values, dialects or expected bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reference/base/status.hpp"

namespace mx {

// What "gemm" asks beside its tensors: mx_gemm of device/abi/mx_device.h.
struct GemmOperation {
    std::int64_t batches = 1;
    std::uint32_t alpha = 0x3F800000;  // both are bits of binary32
    std::uint32_t beta = 0;
    std::string scaling_a = {};
    std::string scaling_b = {};
    std::string scaling_out = {};
    std::string epilogue = {};
    std::string accumulation = {};
    std::string algorithm = {};
    std::int64_t groups = 0;  // 0: it is not grouped
    bool operator==(const GemmOperation&) const = default;
};

// An empty string crosses the ABI as NULL: the operation does not use that member.
struct Operation {
    std::string name = {};
    std::string format = {};
    std::string dialect = {};
    std::string axis = {};
    std::string rounding = {};
    std::string overflow = {};
    std::string subnormals = {};
    std::int64_t block_size = 0;  // 0 where there are no blocks
    std::optional<GemmOperation> gemm = {};
    std::string tensor_scale = {};  // "given", "derived"
    bool operator==(const Operation&) const = default;
};

// A two-dimensional view without its data. In layout "strided" element (r, c) is r * row_stride +
// c * column_stride elements after the first byte; strides are never negative; an input may repeat
// elements by a stride of 0, an output may not. The other layouts are those of device/host/layout.
struct TensorSpec {
    std::string type = {};
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;
    std::string layout = "strided";
    bool operator==(const TensorSpec&) const = default;
};

struct Shape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};

// Bits of one code: f32 32, e4m3 8, e3m2 6, e2m1 4, ... 0 for a type not known here.
int code_bits(std::string_view type);

// Bytes of one element that is not packed: its code in the fewest whole bytes, right-aligned.
std::size_t element_width(std::string_view type);

// The row-major view without gaps.
TensorSpec dense(std::string_view type, Shape shape);
inline TensorSpec dense(std::string_view type, std::int64_t rows, std::int64_t columns) {
    return dense(type, Shape{rows, columns});
}

// True when the elements lie one after the other in row-major order.
bool is_dense(const TensorSpec& spec);

// rows * columns. Only for a spec that byte_extent accepts.
std::size_t element_count(const TensorSpec& spec);

// Bytes from the first byte of the tensor to the end of its farthest element, or of its last pad;
// 0 when it has no element. An unknown type or layout, a negative size or stride, or a size beyond
// the address space is an error.
Expected<std::size_t> byte_extent(const TensorSpec& spec);

// Says whether every element has bytes of its own, as an output needs. Only for a spec that
// byte_extent accepts; answers no for some exotic strides that would not overlap.
bool has_separate_elements(const TensorSpec& spec);

// The tensor as it lies in memory: itself if strided, else one row of bytes. Only for a spec that
// byte_extent accepts.
TensorSpec storage_of(const TensorSpec& spec);

// "f32 3 x 32, strides 32 and 1": how errors name a tensor.
std::string to_text(const TensorSpec& spec);

}  // namespace mx
