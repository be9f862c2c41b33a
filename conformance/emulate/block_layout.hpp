// A tensor of any rank as a row of two-dimensional slices, and the shape of its scales. Used by
// quantize_tensor and dequantize_tensor; knows no bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"
#include "conformance/data/inputs.hpp"
#include "device/host/status.hpp"

namespace mx::emulate {

// Blocks lie along the last dimension (axis row) or along the last but one (axis col), and never
// across two slices.
struct BlockLayout {
    std::int64_t slices = 1;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> scale_shape;

    bool is_empty() const { return slices == 0 || rows == 0 || columns == 0; }
};

// As error: a tensor without the dimension that blocks would lie along.
Expected<BlockLayout> layout_of(std::span<const std::int64_t> shape, const std::string& axis);

// Slice `index` of a tensor that is cut into slices of `rows` x `columns`. A tensor that is one
// slice gives its bytes away.
struct SliceShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t index = 0;
    std::int64_t count = 1;
};
CodeTensor take_slice(data::HostTensor& tensor, const SliceShape& shape);

}  // namespace mx::emulate
