// See block_layout.hpp.
#include "conformance/emulate/block_layout.hpp"

#include "reference/spec/formats.hpp"

namespace mx::emulate {
namespace {

std::int64_t product(std::span<const std::int64_t> lengths) {
    std::int64_t result = 1;
    for (const std::int64_t length : lengths) result *= length;
    return result;
}

std::int64_t blocks_of(std::int64_t length) {
    return length / block_size + (length % block_size != 0 ? 1 : 0);
}

}  // namespace

Expected<BlockLayout> layout_of(std::span<const std::int64_t> shape, const std::string& axis) {
    const auto bad = [&shape](const std::string& what) {
        return Error{ErrorKind::bad_input,
                     "a tensor of shape " + data::shape_text(shape) + " " + what};
    };
    if (shape.empty()) return bad("has no dimension for blocks to lie along");
    const bool by_column = axis == "col";
    if (by_column && shape.size() == 1)
        return bad("has one dimension, and blocks of axis col lie along the last but one; "
                   "use axis row");
    BlockLayout layout;
    layout.scale_shape.assign(shape.begin(), shape.end());
    layout.columns = shape.back();
    if (by_column) {
        layout.slices = product(shape.first(shape.size() - 2));
        layout.rows = shape[shape.size() - 2];
        layout.scale_shape[shape.size() - 2] = blocks_of(layout.rows);
    } else {
        layout.rows = product(shape.first(shape.size() - 1));
        layout.scale_shape.back() = blocks_of(layout.columns);
    }
    return layout;
}

CodeTensor take_slice(data::HostTensor& tensor, const SliceShape& shape) {
    CodeTensor slice;
    slice.type = tensor.type;
    slice.width = find_element_format(tensor.type)->code_bytes();
    slice.rows = shape.rows;
    slice.columns = shape.columns;
    if (shape.count == 1) {
        slice.bytes = std::move(tensor.bytes);
        return slice;
    }
    const std::ptrdiff_t size =
        static_cast<std::ptrdiff_t>(slice.count()) * static_cast<std::ptrdiff_t>(slice.width);
    const auto first = tensor.bytes.begin() + shape.index * size;
    slice.bytes.assign(first, first + size);
    return slice;
}

}  // namespace mx::emulate
