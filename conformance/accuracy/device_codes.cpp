// See device_codes.hpp.
#include "conformance/accuracy/device_codes.hpp"

#include <cstring>

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

void add_factor(const Factor& factor, std::int64_t depth, Question& question) {
    const auto add = [&](const ElementFormat& type, std::int64_t columns,
                         const std::vector<std::uint8_t>& codes) {
        question.inputs.push_back(
            {dense(type.name, factor.rows, columns), std::as_bytes(std::span(codes)), {}});
    };
    const BlockFormat& format = factor.quantizer.format;
    add(format.element(), depth, factor.codes.elements);
    add(format.scale(), blocks_of(factor.quantizer, depth), factor.codes.scales);
}

}  // namespace

Expected<BlockCodes> encode_on(IsolatedDevice& device, const Quantization& quantizer,
                               const Rows& rows) {
    Question question;
    question.operation = {.name = "quantize",
                          .format = std::string(quantizer.format.name),
                          .dialect = std::string(quantizer.rules.name),
                          .axis = "row",
                          .block_size = quantizer.block};
    question.inputs.push_back(
        {dense(formats::f32.name, rows.count(), rows.columns), std::as_bytes(rows.values), {}});
    question.outputs = {
        dense(quantizer.format.element().name, rows.count(), rows.columns),
        dense(quantizer.format.scale().name, rows.count(), blocks_of(quantizer, rows.columns))};
    const auto outputs = outputs_of(device.ask(question), question);
    if (!outputs) return outputs.error();
    return BlockCodes{bytes_of(outputs.value()[0]), bytes_of(outputs.value()[1])};
}

Expected<std::vector<float>> multiply_on(IsolatedDevice& device, const Product& product) {
    Question question;
    question.operation.name = "gemm";
    question.operation.gemm =
        GemmOperation{.scaling_a = "1x32", .scaling_b = "1x32", .algorithm = product.algorithm};
    add_factor(product.a, product.depth, question);
    add_factor(product.b, product.depth, question);
    question.outputs = {dense(formats::f32.name, product.a.rows, product.b.rows)};
    const auto outputs = outputs_of(device.ask(question), question);
    if (!outputs) return outputs.error();
    const std::vector<std::byte>& bytes = outputs.value()[0].bytes;
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace mx::accuracy
