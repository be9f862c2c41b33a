// See evidence.hpp.
#include "conformance/run/evidence.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/data/gemm_inputs.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// What lies between the elements of a tensor that is not dense. Scales of a GEMM have zeros there,
// as the device ABI says.
std::byte gap_of(const Case& c) {
    return c.layout == RowLayout::padded ? std::byte{0x7B} : std::byte{0};
}

// The tensor's elements where the spec has them.
std::vector<std::byte> strided_bytes(const CodeTensor& tensor, const TensorSpec& spec,
                                     std::byte gap) {
    const std::size_t width = static_cast<std::size_t>(tensor.width);
    const auto extent = byte_extent(spec);
    std::vector<std::byte> bytes(extent ? extent.value() : 0, gap);
    const auto copy = [&](std::int64_t row, std::int64_t column, std::int64_t count) {
        const auto to = row * spec.row_stride + column * spec.column_stride;
        const auto from = row * tensor.columns + column;
        std::memcpy(bytes.data() + static_cast<std::size_t>(to) * width,
                    tensor.bytes.data() + static_cast<std::size_t>(from) * width,
                    static_cast<std::size_t>(count) * width);
    };
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        if (spec.column_stride == 1 && tensor.columns > 0) {
            copy(row, 0, tensor.columns);
            continue;
        }
        for (std::int64_t column = 0; column < tensor.columns; ++column) copy(row, column, 1);
    }
    return bytes;
}

Operation operation_asked(const Case& c) {
    if (is_gemm(c)) return operation_of(c);
    Operation asked{.name = std::string(name_of(c.operation)),
                    .format = format_name(c),
                    .dialect = dialect_name(c),
                    .axis = has_blocks(c) ? std::string(name_of(c.axis)) : "",
                    .block_size = has_blocks(c) ? c.block : 0};
    if (has_tensor_number(c)) asked.tensor_scale = c.tensor_number ? "given" : "derived";
    if (!c.rules) return asked;
    asked.rounding = rounding_name_of(*c.rules);
    asked.overflow = name_of(c.rules->overflow);
    asked.subnormals = name_of(c.rules->subnormals);
    return asked;
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
    question.name = print(c);
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
        else if (!is_dense(buffer.spec))
            question.inputs.push_back(
                {buffer.spec, stored(strided_bytes(tensor, buffer.spec, gap_of(c))), {}});
        else
            question.inputs.push_back({buffer.spec, tensor.bytes, {}});
    }
    for (const Buffer& buffer : output_buffers(c)) question.outputs.push_back(buffer.spec);
    return question;
}

Question question_without_data(const Case& c) {
    Question question;
    question.operation = operation_asked(c);
    question.name = print(c);
    for (const Buffer& buffer : input_buffers(c)) question.inputs.push_back({buffer.spec, {}, {}});
    for (const Buffer& buffer : output_buffers(c)) question.outputs.push_back(buffer.spec);
    return question;
}

namespace {

// Leaves the rows that the expected tensor has, and notes whether those beyond them were written.
void cut_tail(OutputTensor& output, const CodeTensor& expected, Evidence& e) {
    const std::size_t count = expected.count();
    for (std::size_t i = count; !e.answer.is_recorded && i < output.flags.size(); ++i) {
        if (output.flags[i] == flag_unwritten) continue;
        if (e.written_tail.count++ == 0)
            e.written_tail.first_row = static_cast<std::int64_t>(i) / expected.columns;
    }
    output.flags.resize(count);
    output.bytes.resize(expected.bytes.size());
}

}  // namespace

void read_answer(Evidence& e) {
    for (const CodeTensor& expected : e.expected) {
        e.actual.push_back(expected);
        std::ranges::fill(e.actual.back().bytes, std::byte{0});
        e.flags.emplace_back(expected.count(), std::uint8_t{0});
    }
    const std::vector<Buffer> buffers = output_buffers(e.c);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        OutputTensor& output = e.answer.outputs[i];
        if (is_strided(buffers[i].spec)) {
            cut_tail(output, e.expected[buffers[i].tensor], e);
            e.actual[buffers[i].tensor].bytes = std::move(output.bytes);
            e.flags[buffers[i].tensor] = std::move(output.flags);
            continue;
        }
        collect(buffers[i], {output.bytes, output.flags}, {e.actual, e.flags});
        if (!pads_are_zero(buffers[i].spec)) continue;
        find_wrong_pads(i, output, lay_out(buffers[i], e.actual, std::byte{0}), e.wrong_pads);
    }
}

namespace {

template <typename Item>
std::vector<Item> part_of(const std::vector<Item>& items, std::size_t part, std::size_t parts) {
    const std::size_t size = items.size() / parts;
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(part * size);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

void for_each_side(const Evidence& e, const std::function<void(const Evidence&)>& visit) {
    const std::span<const BlockAxis> axes = axes_of(e.c);
    if (axes.size() == 1) return visit(e);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        Evidence side;
        side.c = along(e.c, axes[i]);
        side.inputs = e.inputs;
        side.expected = part_of(e.expected, i, axes.size());
        side.actual = part_of(e.actual, i, axes.size());
        side.flags = part_of(e.flags, i, axes.size());
        side.reads_pads = e.reads_pads;
        side.answer.outputs = part_of(e.answer.outputs, i, axes.size());
        visit(side);
    }
}

}  // namespace mx
