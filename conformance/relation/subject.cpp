// See subject.hpp.
#include "conformance/relation/subject.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/host/layout.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

TensorSpec strided(const CodeTensor& tensor, std::int64_t row_gap) {
    TensorSpec spec = dense(tensor.type, tensor.rows, tensor.columns);
    spec.row_stride += row_gap;
    return spec;
}

// Rows apart; what lies between them is no number that could be taken for one of the tensor's.
std::vector<std::byte> strided_bytes(const CodeTensor& tensor, const TensorSpec& spec) {
    const auto width = static_cast<std::size_t>(tensor.width);
    std::vector<std::byte> bytes(byte_extent(spec).value(), std::byte{0x7B});
    const std::size_t line = static_cast<std::size_t>(tensor.columns) * width;
    for (std::int64_t row = 0; row < tensor.rows && line > 0; ++row)
        std::memcpy(bytes.data() + static_cast<std::size_t>(row * spec.row_stride) * width,
                    tensor.bytes.data() + static_cast<std::size_t>(row) * line, line);
    return bytes;
}

TensorSpec packed_spec(const CodeTensor& elements, const std::string& packing, std::int64_t block) {
    TensorSpec spec{elements.type, elements.rows, elements.columns, 0, 0, packing};
    if (packing != "inline") return spec;
    const std::int64_t bits = code_bits(elements.type);
    spec.column_stride = block * bits / 8 + 1;
    spec.row_stride = whole(elements.columns, block) * spec.column_stride;
    return spec;
}

constexpr std::byte first_pad{0x5A}, second_pad{0xA5};

// One more tensor of the side: the number of the whole tensor, if the dialect has one.
void add_number(std::optional<std::uint32_t> number, std::vector<Buffer>& buffers,
                std::vector<CodeTensor>& tensors) {
    if (!number) return;
    buffers.push_back({dense("f32", 1, 1), tensors.size(), 1});
    tensors.push_back(make_tensor("f32", 1, 1));
    tensors.back().set(0, *number);
}

}  // namespace

void join_nans(CodeTensor& values) {
    const ElementFormat& type = *find_element_format(values.type);
    const std::uint32_t nan = type.code_infinity() | 1u << (type.mantissa_bits - 1);
    for (std::size_t i = 0; i < values.count(); ++i)
        if (type.is_nan(Code{values.at(i)})) values.set(i, nan);
}

Operation Subject::operation_of(const Form& form) const {
    return {.name = setting_.operation,
            .format = setting_.format,
            .dialect = setting_.dialect,
            .axis = form.axis,
            .block_size = block_of(form),
            .tensor_scale = setting_.number_given ? "given" : ""};
}

CodeTensor Subject::scale_grid(const CodeTensor& like, const Form& form) const {
    const std::int64_t k = block_of(form);
    return make_tensor(setting_.scales, form.axis == "row" ? like.rows : whole(like.rows, k),
                       form.axis == "col" ? like.columns : whole(like.columns, k));
}

Subject::Side Subject::blocks_side(const Quantized& blocks, const Form& form) const {
    Side side{{}, {blocks.elements, blocks.scales}};
    const CodeTensor &elements = blocks.elements, &scales = blocks.scales;
    const TensorSpec codes = form.packing == "strided"
                                 ? strided(elements, form.row_gap)
                                 : packed_spec(elements, form.packing, block_of(form));
    side.buffers.push_back({codes, 0, form.packing == "inline" ? std::size_t{2} : std::size_t{1}});
    if (form.packing == "inline") return side;
    const TensorSpec grid =
        form.scale_order == "strided"
            ? strided(scales, form.row_gap)
            : TensorSpec{scales.type, scales.rows, scales.columns, 0, 0, form.scale_order};
    side.buffers.push_back({grid, 1, 1});
    return side;
}

// Fills the outputs. Returns what no answer may do, or "": of codes, for pads may be left or
// change.
std::string Subject::read(const DeviceAnswer& answer, Side& outputs) const {
    std::string fault = fault_of(answer.findings);
    std::vector<std::vector<std::uint8_t>> flags;
    for (const CodeTensor& tensor : outputs.tensors) flags.emplace_back(tensor.count());
    for (std::size_t i = 0; i < outputs.buffers.size(); ++i) {
        const Buffer& buffer = outputs.buffers[i];
        if (is_strided(buffer.spec)) {
            outputs.tensors[buffer.tensor].bytes = answer.outputs[i].bytes;
            flags[buffer.tensor] = answer.outputs[i].flags;
            continue;
        }
        collect(buffer, {answer.outputs[i].bytes, answer.outputs[i].flags},
                {outputs.tensors, flags});
        if (fault.empty() && pads_are_zero(buffer.spec) &&
            lay_out(buffer, outputs.tensors, std::byte{0}) != answer.outputs[i].bytes)
            fault = "bits that hold no code of layout " + buffer.spec.layout + " are not 0";
    }
    for (const auto& its : flags)
        if (fault.empty()) fault = fault_of(its);
    return fault;
}

Expected<std::vector<CodeTensor>> Subject::ask(const Operation& operation, const Side& inputs,
                                               Side outputs) {
    for (const auto* buffers : {&inputs.buffers, &std::as_const(outputs.buffers)})
        for (const Buffer& buffer : *buffers)
            if (const auto extent = byte_extent(buffer.spec); !extent) return extent.error();
    Question question{.operation = operation};
    std::vector<std::vector<std::byte>> storage;
    storage.reserve(2 * inputs.buffers.size());
    for (const Buffer& buffer : inputs.buffers) {
        InputTensor input{buffer.spec, {}, {}};
        if (is_strided(buffer.spec)) {
            storage.push_back(strided_bytes(inputs.tensors[buffer.tensor], buffer.spec));
            input.data = storage.back();
        } else {
            storage.push_back(lay_out(buffer, inputs.tensors, first_pad));
            input.data = storage.back();
            storage.push_back(lay_out(buffer, inputs.tensors, second_pad));
            input.second_data = storage.back();
        }
        question.inputs.push_back(input);
    }
    for (const Buffer& buffer : outputs.buffers) question.outputs.push_back(buffer.spec);
    ++calls_;
    fault_.clear();
    const DeviceAnswer answer = client_.ask(question);
    if (answer.kind != AnswerKind::answered) return refusal_of(answer);
    fault_ = read(answer, outputs);
    if (!fault_.empty()) return Error{ErrorKind::device, fault_};
    return std::move(outputs.tensors);
}

Expected<Quantized> Subject::quantize(const CodeTensor& values, const Form& form) {
    Side inputs{{{strided(values, form.row_gap), 0, 1}}, {values}};
    add_number(setting_.number_given, inputs.buffers, inputs.tensors);
    const Quantized shapes{make_tensor(setting_.elements, values.rows, values.columns),
                           scale_grid(values, form)};
    Side blocks = blocks_side(shapes, form);
    add_number(setting_.number_kept, blocks.buffers, blocks.tensors);
    auto outputs = ask(operation_of(form), inputs, std::move(blocks));
    if (!outputs) return outputs.error();
    return Quantized{outputs.value()[0], outputs.value()[1]};
}

Expected<std::array<Quantized, 2>> Subject::quantize_both(const CodeTensor& values) {
    Side outputs;
    for (const char* axis : {"row", "col"}) {
        const Form form{.axis = axis};
        const Quantized shapes{make_tensor(setting_.elements, values.rows, values.columns),
                               scale_grid(values, form)};
        Side side = blocks_side(shapes, form);
        add_number(setting_.number_kept, side.buffers, side.tensors);
        for (Buffer& buffer : side.buffers) {
            buffer.tensor += outputs.tensors.size();
            outputs.buffers.push_back(buffer);
        }
        outputs.tensors.insert(outputs.tensors.end(), side.tensors.begin(), side.tensors.end());
    }
    Side inputs{{{strided(values, 0), 0, 1}}, {values}};
    add_number(setting_.number_given, inputs.buffers, inputs.tensors);
    auto given = ask(operation_of({.axis = "both"}), inputs, std::move(outputs));
    if (!given) return given.error();
    const std::vector<CodeTensor>& tensors = given.value();
    const std::size_t down = tensors.size() / 2;
    return std::array{Quantized{tensors[0], tensors[1]},
                      Quantized{tensors[down], tensors[down + 1]}};
}

Expected<CodeTensor> Subject::dequantize(const Quantized& blocks, const Form& form) {
    const CodeTensor values =
        make_tensor(setting_.values, blocks.elements.rows, blocks.elements.columns);
    Side inputs = blocks_side(blocks, form);
    add_number(setting_.number_kept, inputs.buffers, inputs.tensors);
    auto outputs =
        ask(operation_of(form), inputs, {{{strided(values, form.row_gap), 0, 1}}, {values}});
    if (!outputs) return outputs.error();
    join_nans(outputs.value()[0]);
    return outputs.value()[0];
}

Expected<CodeTensor> Subject::encode_scale(const CodeTensor& values) {
    const CodeTensor scales = make_tensor(setting_.scales, values.rows, values.columns);
    const Operation operation{
        .name = "encode_scale", .format = setting_.format, .dialect = setting_.dialect};
    auto outputs = ask(operation, {{{strided(values, 0), 0, 1}}, {values}},
                       {{{strided(scales, 0), 0, 1}}, {scales}});
    if (!outputs) return outputs.error();
    return outputs.value()[0];
}

Expected<CodeTensor> Subject::gemm(const Product& p) {
    Side inputs;
    const auto add = [&inputs](const CodeTensor& tensor, const std::string& order) {
        if (tensor.rows == 0) return;
        TensorSpec spec = strided(tensor, 0);
        if (order != "strided") spec = {tensor.type, tensor.rows, tensor.columns, 0, 0, order};
        inputs.buffers.push_back({spec, inputs.tensors.size(), 1});
        inputs.tensors.push_back(tensor);
    };
    add(p.a, "strided");
    add(p.scales_a, p.scale_order);
    add(p.b, "strided");
    add(p.scales_b, p.scale_order);
    add(p.c, "strided");
    add(p.bias, "strided");
    const CodeTensor d = make_tensor(setting_.values, p.a.rows, p.b.rows / p.batches);
    Operation operation{.name = "gemm"};
    operation.gemm = GemmOperation{.batches = p.batches,
                                   .alpha = p.alpha,
                                   .beta = p.beta,
                                   .scaling_a = setting_.scaling,
                                   .scaling_b = setting_.scaling,
                                   .epilogue = p.epilogue,
                                   .accumulation = setting_.accumulation};
    auto outputs = ask(operation, inputs, {{{strided(d, 0), 0, 1}}, {d}});
    if (!outputs) return outputs.error();
    return outputs.value()[0];
}

Subject Subject::with_values(const std::string& type) const {
    Subject other = *this;
    other.setting_.values = type;
    return other;
}

Subject Subject::with_operation(const std::string& operation) const {
    Subject other = *this;
    other.setting_.operation = operation;
    return other;
}

}  // namespace mx::relation
