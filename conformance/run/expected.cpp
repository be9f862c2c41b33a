// See expected.hpp.
#include "conformance/run/expected.hpp"

#include "conformance/data/converter.hpp"
#include "conformance/run/gemm_judge.hpp"

namespace mx {
namespace {

CodeTensor output_tensor(const Case& c, Part part) {
    const PartShape shape = shape_of(c, part);
    return make_tensor(shape.type, shape.rows, shape.columns);
}

CodeTensor expect_convert(const Case& c, const std::vector<CodeTensor>& inputs) {
    const Converter convert(c);
    const StochasticForm* form = stochastic_form_of(c);
    CodeTensor output = output_tensor(c, Part::elements);
    for (std::size_t i = 0; i < output.count(); ++i) {
        const RandomBits random =
            form == nullptr ? RandomBits{} : random_bits_at(c, *form, inputs[1], i);
        output.set(i, convert(Code{inputs[0].at(i)}, random).bits);
    }
    return output;
}

CodeTensor expect_scales(const Case& c, const CodeTensor& input) {
    const Quantizer rules = rules_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockFormat format = block_format_of(c);
    CodeTensor output = output_tensor(c, Part::value_scales);
    for (std::size_t i = 0; i < output.count(); ++i) {
        const fast::Unpacked amax = fast::read_input(rules.subnormals, value, Code{input.at(i)});
        output.set(i, fast::encode_scale(rules, format, amax).bits);
    }
    return output;
}

std::vector<CodeTensor> expect_quantize(const Case& c, const CodeTensor& input) {
    const Quantizer rules = rules_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockFormat format = block_format_of(c);
    const BlockGrid grid = block_grid(c);
    CodeTensor elements = output_tensor(c, Part::elements);
    CodeTensor scales = output_tensor(c, Part::scales);
    std::vector<std::uint32_t> lanes(static_cast<std::size_t>(lanes_of(c)));
    std::vector<std::uint8_t> codes(lanes.size());
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        for (int lane = 0; lane < place.count; ++lane)
            lanes[static_cast<std::size_t>(lane)] = input.at(place.element(lane));
        const Code scale =
            fast::quantize_block(rules, format, value, lanes.data(), place.count, codes.data());
        for (int lane = 0; lane < place.count; ++lane)
            elements.set(place.element(lane), codes[static_cast<std::size_t>(lane)]);
        scales.set(static_cast<std::size_t>(block), scale.bits);
    }
    std::vector<CodeTensor> outputs;
    outputs.push_back(std::move(elements));
    outputs.push_back(std::move(scales));
    return outputs;
}

std::vector<CodeTensor> expect_sides(const Case& c, const CodeTensor& input) {
    std::vector<CodeTensor> outputs;
    for (const Case& side : sides_of(c))
        for (CodeTensor& output : expect_quantize(side, input))
            outputs.push_back(std::move(output));
    return outputs;
}

CodeTensor expect_values(const Case& c, const std::vector<CodeTensor>& inputs) {
    const BlockFormat format = block_format_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockGrid grid = block_grid(c);
    CodeTensor output = output_tensor(c, Part::values);
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        const Code scale{inputs[1].at(static_cast<std::size_t>(block))};
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            const Code code{inputs[0].at(element)};
            output.set(element, fast::dequantize(format, value, scale, code).bits);
        }
    }
    return output;
}

}  // namespace

std::vector<CodeTensor> expect(const Case& c, const std::vector<CodeTensor>& inputs) {
    switch (operation_of(c).kind) {
        case OperationKind::convert:
            return {expect_convert(c, inputs)};
        case OperationKind::encode_scale:
            return {expect_scales(c, inputs[0])};
        case OperationKind::quantize:
            return expect_sides(c, inputs[0]);
        case OperationKind::dequantize:
            return {expect_values(c, inputs)};
        case OperationKind::gemm:
            return expect_gemm(c, inputs);
    }
    MX_ASSERT(false && "an operation without an answer");
    return {};
}

}  // namespace mx
