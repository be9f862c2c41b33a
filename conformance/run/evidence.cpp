// See evidence.hpp.
#include "conformance/run/evidence.hpp"

#include <cstring>

#include "conformance/case/rules.hpp"

namespace mx {
namespace {

// Padded rows end this many elements before the next begins; odd, so that nothing stays aligned.
constexpr std::int64_t padding = 3;

TensorSpec spec_of(const Case& c, const CodeTensor& tensor) {
    TensorSpec spec = dense(tensor.type, tensor.rows, tensor.columns);
    if (c.layout == "padded") spec.row_stride += padding;
    return spec;
}

// The tensor's rows, apart as far as the spec says, with a pattern between them.
std::vector<std::byte> padded_bytes(const CodeTensor& tensor, const TensorSpec& spec) {
    const std::size_t width = static_cast<std::size_t>(tensor.width);
    const std::size_t row = static_cast<std::size_t>(tensor.columns) * width;
    const std::size_t stride = static_cast<std::size_t>(spec.row_stride) * width;
    const auto extent = byte_extent(spec);
    std::vector<std::byte> bytes(extent ? extent.value() : 0, std::byte{0x7B});
    if (row == 0) return bytes;
    for (std::int64_t r = 0; r < tensor.rows; ++r)
        std::memcpy(bytes.data() + static_cast<std::size_t>(r) * stride,
                    tensor.bytes.data() + static_cast<std::size_t>(r) * row, row);
    return bytes;
}

}  // namespace

Question make_question(const Case& c, const std::vector<CodeTensor>& inputs,
                       std::vector<std::vector<std::byte>>& storage) {
    Question question;
    question.operation = {.name = c.operation,
                          .format = c.format,
                          .dialect = c.dialect,
                          .axis = has_blocks(c) ? c.axis : "",
                          .rounding = c.rounding,
                          .overflow = c.overflow};
    storage.clear();
    storage.reserve(inputs.size());
    for (const CodeTensor& input : inputs) {
        const TensorSpec spec = spec_of(c, input);
        if (c.layout == "padded") {
            storage.push_back(padded_bytes(input, spec));
            question.inputs.push_back({spec, storage.back()});
        } else {
            question.inputs.push_back({spec, input.bytes});
        }
    }
    const auto add_output = [&](std::string_view type, std::int64_t rows, std::int64_t columns) {
        CodeTensor shape;
        shape.type = type;
        shape.rows = rows;
        shape.columns = columns;
        question.outputs.push_back(spec_of(c, shape));
    };
    const BlockGrid grid = block_grid(c);
    if (c.operation == "dequantize") add_output(c.type, c.rows, c.columns);
    if (c.operation == "encode_scale") add_output("e8m0", c.rows, c.columns);
    if (c.operation == "convert" || c.operation == "quantize")
        add_output(block_format_of(c).element().name, c.rows, c.columns);
    if (c.operation == "quantize") add_output("e8m0", grid.block_rows, grid.block_columns);
    return question;
}

}  // namespace mx
