// Walks the elements of a strided tensor in row-major order, in runs as long as they lie together.
// Used by CallBuffers; knows nothing of values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "device/host/operation.hpp"

namespace mx {

// Bytes that lie together both in the strided tensor and in its dense copy.
struct ElementRun {
    std::size_t strided = 0;  // offset in the tensor
    std::size_t dense = 0;    // offset in the dense copy
    std::size_t size = 0;
};

template <typename Visit>
void for_each_run(const TensorSpec& spec, Visit visit) {
    const std::size_t width = element_width(spec.type);
    if (spec.rows == 0 || spec.columns == 0) return;
    if (is_dense(spec)) return visit(ElementRun{0, 0, element_count(spec) * width});
    const auto rows = static_cast<std::size_t>(spec.rows);
    const auto columns = static_cast<std::size_t>(spec.columns);
    const auto row_step = static_cast<std::size_t>(spec.row_stride) * width;
    const auto column_step = static_cast<std::size_t>(spec.column_stride) * width;
    const bool whole_rows = columns == 1 || spec.column_stride == 1;
    const std::size_t runs_per_row = whole_rows ? 1 : columns;
    const std::size_t size = whole_rows ? columns * width : width;
    std::size_t dense = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t run = 0; run < runs_per_row; ++run) {
            visit(ElementRun{row * row_step + run * column_step, dense, size});
            dense += size;
        }
    }
}

// memcpy that stays a move instruction for single elements.
inline void copy_run(std::byte* to, const std::byte* from, std::size_t size) {
    switch (size) {
        case 1:
            std::memcpy(to, from, 1);
            break;
        case 2:
            std::memcpy(to, from, 2);
            break;
        case 4:
            std::memcpy(to, from, 4);
            break;
        default:
            std::memcpy(to, from, size);
    }
}

// The elements without gaps: the tensor itself when it is dense, otherwise a copy in `scratch`.
inline std::span<const std::byte> dense_view(const TensorSpec& spec,
                                             std::span<const std::byte> tensor,
                                             std::vector<std::byte>& scratch) {
    if (is_dense(spec)) return tensor;
    scratch.resize(element_count(spec) * element_width(spec.type));
    for_each_run(spec, [&](ElementRun run) {
        copy_run(scratch.data() + run.dense, tensor.data() + run.strided, run.size);
    });
    return scratch;
}

}  // namespace mx
