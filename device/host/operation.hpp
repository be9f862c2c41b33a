// What is asked of a device, and the shape of a tensor: the C++ form of mx_operation and mx_tensor.
// Used by everything that talks to a device; knows nothing of values, dialects or expected bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "device/host/status.hpp"

namespace mx {

// An empty string crosses the ABI as NULL: the operation does not use that member.
struct Operation {
    std::string name = {};
    std::string format = {};
    std::string dialect = {};
    std::string axis = {};
    std::string rounding = {};
    std::string overflow = {};
    bool operator==(const Operation&) const = default;
};

// A two-dimensional view without its data. Element (r, c) is r * row_stride + c * column_stride
// elements after the first byte. Strides are never negative; an input may repeat elements by a
// stride of 0, an output may not.
struct TensorSpec {
    std::string type = {};
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;
    bool operator==(const TensorSpec&) const = default;
};

struct Shape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};

// Bytes of one element: f32 4, bf16 and f16 2, e4m3 e5m2 e8m0 1. 0 for a type not known here.
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

// Bytes from the first byte of the tensor to the end of its farthest element; 0 when it has none.
// An unknown type, a negative size or stride, or a size beyond the address space is an error.
Expected<std::size_t> byte_extent(const TensorSpec& spec);

// Says whether every element has bytes of its own, as an output needs. Only for a spec that
// byte_extent accepts; answers no for some exotic strides that would not overlap.
bool has_separate_elements(const TensorSpec& spec);

// "f32 3 x 32, strides 32 and 1": how errors name a tensor.
std::string to_text(const TensorSpec& spec);

}  // namespace mx
