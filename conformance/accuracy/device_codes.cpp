// See device_codes.hpp.
#include "conformance/accuracy/device_codes.hpp"

#include <cstring>

#include "conformance/run/evidence.hpp"

namespace mx::accuracy {
namespace {

std::vector<std::uint8_t> bytes_of(const OutputTensor& output) {
    std::vector<std::uint8_t> bytes(output.bytes.size());
    if (!bytes.empty()) std::memcpy(bytes.data(), output.bytes.data(), bytes.size());
    return bytes;
}

std::int64_t blocks_of(const Quantization& quantizer, std::int64_t columns) {
    return (columns + quantizer.block - 1) / quantizer.block;
}

// Of MX blocks, whose scales are bytes; `scales` must outlive the question.
void add_factor(const Factor& factor, std::int64_t depth, std::vector<std::uint8_t>& scales,
                Question& question) {
    scales.assign(factor.codes.scales.begin(), factor.codes.scales.end());
    const auto add = [&](const ElementFormat& type, std::int64_t columns,
                         const std::vector<std::uint8_t>& codes) {
        question.inputs.push_back(
            {dense(type.name, factor.rows, columns), std::as_bytes(std::span(codes)), {}});
    };
    const BlockFormat& format = factor.quantizer.format;
    add(format.element(), depth, factor.codes.elements);
    add(format.scale(), blocks_of(factor.quantizer, depth), scales);
}

}  // namespace

Expected<BlockCodes> encode_on(const Client& client, const Quantization& quantizer,
                               const Rows& rows) {
    const Blocking blocking = blocking_of(quantizer, rows);
    Case c;
    c.operation = OperationKind::quantize;
    c.format = &quantizer.format;
    c.dialect = &quantizer.rules;
    c.axis = blocking.axis;
    c.block = blocking.block;
    c.rows = blocking.rows;
    c.columns = blocking.columns;
    std::vector<CodeTensor> inputs;
    for (const Part part : inputs_of(c)) inputs.push_back(make_tensor(shape_of(c, part)));
    if (!rows.values.empty())
        std::memcpy(inputs[0].bytes.data(), rows.values.data(), rows.values.size_bytes());
    if (quantizer.is_stochastic())
        for (std::size_t i = 0; i < rows.values.size(); ++i)
            inputs[1].set(i, random_bits(quantizer, i).bits);
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c, inputs, storage);
    const auto outputs = outputs_of(client.ask(question), question);
    if (!outputs) return outputs.error();
    BlockCodes codes{bytes_of(outputs.value()[0]), {}};
    const auto words_of = [&](Part part, std::size_t output) {
        CodeTensor tensor = make_tensor(shape_of(c, part));
        tensor.bytes = outputs.value()[output].bytes;
        return tensor;
    };
    const CodeTensor scales = words_of(Part::scales, 1);
    for (std::size_t i = 0; i < scales.count(); ++i) codes.scales.push_back(scales.at(i));
    if (has_tensor_number(c)) codes.kept = words_of(Part::tensor_number, 2).at(0);
    return codes;
}

Expected<std::vector<float>> multiply_on(const Client& client, const Product& product) {
    Question question;
    question.operation.name = "gemm";
    question.operation.gemm =
        GemmOperation{.scaling_a = "1x32", .scaling_b = "1x32", .algorithm = product.algorithm};
    std::vector<std::uint8_t> scales_a, scales_b;
    add_factor(product.a, product.depth, scales_a, question);
    add_factor(product.b, product.depth, scales_b, question);
    question.outputs = {dense(formats::f32.name, product.a.rows, product.b.rows)};
    const auto outputs = outputs_of(client.ask(question), question);
    if (!outputs) return outputs.error();
    const std::vector<std::byte>& bytes = outputs.value()[0].bytes;
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace mx::accuracy
