// See evidence.hpp.
#include "conformance/run/evidence.hpp"

#include <cstring>

#include "conformance/case/rules.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"

namespace mx {
namespace {

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

Operation operation_asked(const Case& c) {
    return {.name = c.operation,
            .format = c.format,
            .dialect = c.dialect,
            .axis = has_blocks(c) ? c.axis : "",
            .rounding = c.rounding,
            .overflow = c.overflow,
            .subnormals = c.subnormals,
            .block_size = has_blocks(c) ? c.block : 0};
}

// Every byte of an output against the same codes among zeros: what differs lies beside the codes.
void find_wrong_pads(std::size_t buffer, const OutputTensor& output,
                     const std::vector<std::byte>& right, std::vector<WrongPads>& found) {
    WrongPads wrong{buffer, 0, 0, 0, 0};
    for (std::size_t byte = 0; byte < right.size(); ++byte) {
        if (output.bytes[byte] == right[byte]) continue;
        if (wrong.count++ == 0) {
            wrong.first_byte = byte;
            wrong.first_value = std::to_integer<std::uint8_t>(output.bytes[byte]);
        }
        wrong.unwritten += (output.flags[byte] & flag_unwritten) != 0 ? 1 : 0;
    }
    if (wrong.count > 0) found.push_back(wrong);
}

}  // namespace

Question make_question(const Case& c, const std::vector<CodeTensor>& inputs,
                       std::vector<std::vector<std::byte>>& storage) {
    Question question;
    question.operation = operation_asked(c);
    storage.clear();
    storage.reserve(2 * inputs.size());
    const auto stored = [&storage](std::vector<std::byte> bytes) {
        storage.push_back(std::move(bytes));
        return std::span<const std::byte>(storage.back());
    };
    for (const Buffer& buffer : input_buffers(c)) {
        const CodeTensor& tensor = inputs[buffer.tensor];
        if (!is_strided(buffer.spec))
            question.inputs.push_back({buffer.spec,
                                       stored(lay_out(buffer, inputs, first_input_pad)),
                                       stored(lay_out(buffer, inputs, second_input_pad))});
        else if (c.layout == "padded")
            question.inputs.push_back({buffer.spec, stored(padded_bytes(tensor, buffer.spec)), {}});
        else
            question.inputs.push_back({buffer.spec, tensor.bytes, {}});
    }
    for (const Buffer& buffer : output_buffers(c)) question.outputs.push_back(buffer.spec);
    return question;
}

Question question_without_data(const Case& c) {
    Question question;
    question.operation = operation_asked(c);
    for (const Buffer& buffer : input_buffers(c)) question.inputs.push_back({buffer.spec, {}, {}});
    for (const Buffer& buffer : output_buffers(c)) question.outputs.push_back(buffer.spec);
    return question;
}

void read_answer(Evidence& e) {
    for (const CodeTensor& expected : e.expected) {
        e.actual.push_back(make_tensor(expected.type, expected.rows, expected.columns));
        e.flags.emplace_back(expected.count(), std::uint8_t{0});
    }
    const std::vector<Buffer> buffers = output_buffers(e.c);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        OutputTensor& output = e.answer.outputs[i];
        if (is_strided(buffers[i].spec)) {
            e.actual[buffers[i].tensor].bytes = std::move(output.bytes);
            e.flags[buffers[i].tensor] = std::move(output.flags);
            continue;
        }
        collect(buffers[i], {output.bytes, output.flags}, {e.actual, e.flags});
        if (!pads_are_zero(buffers[i].spec)) continue;
        find_wrong_pads(i, output, lay_out(buffers[i], e.actual, std::byte{0}), e.wrong_pads);
    }
}

}  // namespace mx
