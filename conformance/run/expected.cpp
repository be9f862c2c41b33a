// See expected.hpp.
#include "conformance/run/expected.hpp"

#include "conformance/data/converter.hpp"
#include "conformance/run/gemm_judge.hpp"

namespace mx {
namespace {

CodeTensor output_tensor(const Problem& p, Part part) {
    return make_tensor(shape_of(p, part));
}

CodeTensor expect_convert(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const Converter convert(p);
    const StochasticForm* form = stochastic_form_of(p);
    CodeTensor output = output_tensor(p, Part::elements);
    for (std::size_t i = 0; i < output.count(); ++i) {
        const RandomBits random =
            form == nullptr ? RandomBits{} : random_bits_at(p, *form, inputs[1], i);
        output.set(i, convert(Code{inputs[0].at(i)}, random).bits);
    }
    return output;
}

CodeTensor expect_scales(const Problem& p, const CodeTensor& input) {
    const Quantizer rules = rules_of(p);
    const ElementFormat value = p.type;
    const BlockFormat format = *p.format;
    CodeTensor output = output_tensor(p, Part::value_scales);
    for (std::size_t i = 0; i < output.count(); ++i) {
        const fast::Unpacked amax = fast::read_input(rules.subnormals, value, Code{input.at(i)});
        output.set(i, fast::encode_scale(rules, format, amax).bits);
    }
    return output;
}

std::vector<CodeTensor> expect_quantize(const Problem& p, const CodeTensor& input) {
    const Quantizer rules = rules_of(p);
    const ElementFormat value = p.type;
    const BlockFormat format = *p.format;
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    CodeTensor elements = output_tensor(p, Part::elements);
    CodeTensor scales = output_tensor(p, Part::scales);
    std::vector<std::uint32_t> lanes(static_cast<std::size_t>(lanes_of(blocking)));
    std::vector<std::uint8_t> codes(lanes.size());
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
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

std::vector<CodeTensor> expect_sides(const Problem& p, const CodeTensor& input) {
    std::vector<CodeTensor> outputs;
    for (const BlockAxis axis : axes_of(p))
        for (CodeTensor& output : expect_quantize(along(p, axis), input))
            outputs.push_back(std::move(output));
    return outputs;
}

CodeTensor expect_values(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const BlockFormat format = *p.format;
    const ElementFormat value = p.type;
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    CodeTensor output = output_tensor(p, Part::values);
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
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

std::vector<CodeTensor> expect(const Problem& p, const std::vector<CodeTensor>& inputs) {
    switch (p.operation) {
        case OperationKind::convert:
            return {expect_convert(p, inputs)};
        case OperationKind::encode_scale:
            return {expect_scales(p, inputs[0])};
        case OperationKind::quantize:
            return expect_sides(p, inputs[0]);
        case OperationKind::dequantize:
            return {expect_values(p, inputs)};
        case OperationKind::gemm:
            return expect_gemm(p, inputs);
    }
    MX_ASSERT(false && "an operation without an answer");
    return {};
}

}  // namespace mx
