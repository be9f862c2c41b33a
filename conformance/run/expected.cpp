// See expected.hpp.
#include "conformance/run/expected.hpp"

#include <array>

#include "conformance/data/converter.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx {

const CodeTensor& transformed(const Problem& p, const CodeTensor& input, CodeTensor& rotated) {
    if (p.dialect->transform == LaneTransform::none) return input;
    Blocking groups = blocking_of(p);
    groups.block = hadamard_size;
    rotated = input;
    std::array<fast::Unpacked, hadamard_size> before;
    for (std::int64_t group = 0; group < block_grid(groups).count(); ++group) {
        const BlockPlace place = place_of(groups, group);
        for (int lane = 0; lane < hadamard_size; ++lane)
            before[static_cast<std::size_t>(lane)] =
                fast::unpack(p.type, Code{input.at(place.element(lane))});
        for (int lane = 0; lane < hadamard_size; ++lane)
            rotated.set(place.element(lane),
                        fast::round(p.type, Rounding::nearest_even, Overflow::overflow,
                                    fast::rotated_lane(before.data(), lane))
                            .bits);
    }
    return rotated;
}

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

// Of the values as they are quantized. By parts: a copy of all of them would be as large again.
fast::Unpacked amax_of_tensor(const Problem& p, const CodeTensor& values) {
    constexpr std::size_t part = 4096;
    const Quantizer rules = rules_of_tensor_amax(*p.dialect);
    std::vector<std::uint32_t> lanes, amaxes;
    for (std::size_t i = 0; i < values.count(); ++i) {
        lanes.push_back(values.at(i));
        if (lanes.size() < part && i + 1 < values.count()) continue;
        amaxes.push_back(fast::f32_code(
            fast::amax_of(rules, p.type, lanes.data(), static_cast<std::int64_t>(lanes.size()))));
        lanes.clear();
    }
    return fast::amax_of(rules, formats::f32, amaxes.data(),
                         static_cast<std::int64_t>(amaxes.size()));
}

// An initializer list would copy the tensor.
std::vector<CodeTensor> alone(CodeTensor tensor) {
    std::vector<CodeTensor> one;
    one.push_back(std::move(tensor));
    return one;
}

fast::TensorNumbers tensor_numbers(const Problem& p, const CodeTensor& values) {
    if (!has_tensor_number(p)) return {};
    if (p.tensor_number) return numbers_of(p, *p.tensor_number);
    return fast::tensor_numbers(*p.dialect, *p.format, amax_of_tensor(p, values));
}

std::vector<CodeTensor> expect_quantize(const Problem& p, const std::vector<CodeTensor>& inputs) {
    CodeTensor rotated;
    const CodeTensor& input = transformed(p, inputs[0], rotated);
    const fast::BlockQuestion question{rules_of(p), *p.format, p.type, tensor_numbers(p, input)};
    const StochasticForm* form = stochastic_form_of(p);
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    CodeTensor elements = output_tensor(p, Part::elements);
    CodeTensor scales = output_tensor(p, Part::scales);
    std::vector<std::uint32_t> lanes(static_cast<std::size_t>(lanes_of(blocking)));
    std::vector<std::uint8_t> codes(lanes.size());
    std::vector<RandomBits> random(form == nullptr ? 0 : lanes.size());
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        for (int lane = 0; lane < place.count; ++lane)
            lanes[static_cast<std::size_t>(lane)] = input.at(place.element(lane));
        for (int lane = 0; form != nullptr && lane < place.count; ++lane)
            random[static_cast<std::size_t>(lane)] =
                random_bits_at(p, *form, inputs.back(), place.element(lane));
        const Code scale = fast::quantize(question, lanes.data(), place.count, codes.data(),
                                          form == nullptr ? nullptr : random.data());
        for (int lane = 0; lane < place.count; ++lane)
            elements.set(place.element(lane), codes[static_cast<std::size_t>(lane)]);
        scales.set(static_cast<std::size_t>(block), scale.bits);
    }
    std::vector<CodeTensor> outputs;
    outputs.push_back(std::move(elements));
    outputs.push_back(std::move(scales));
    if (!has_tensor_number(p)) return outputs;
    outputs.push_back(output_tensor(p, Part::tensor_number));
    outputs.back().set(0, fast::f32_code(fast::kept_number(question.quantizer, question.tensor)));
    return outputs;
}

std::vector<CodeTensor> expect_sides(const Problem& p, const std::vector<CodeTensor>& inputs) {
    std::vector<CodeTensor> outputs;
    for (const BlockAxis axis : axes_of(p))
        for (CodeTensor& output : expect_quantize(along(p, axis), inputs))
            outputs.push_back(std::move(output));
    return outputs;
}

CodeTensor expect_values(const Problem& p, const std::vector<CodeTensor>& inputs) {
    const std::uint32_t kept = p.tensor_number.value_or(0);
    const fast::DequantizeQuestion question{rules_of(p), *p.format, p.type,
                                            fast::unpack(formats::f32, Code{kept})};
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    CodeTensor output = output_tensor(p, Part::values);
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        const Code scale{inputs[1].at(static_cast<std::size_t>(block))};
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            const Code code{inputs[0].at(element)};
            output.set(element, fast::dequantize(question, {scale, code}).bits);
        }
    }
    return output;
}

}  // namespace

std::uint32_t derived_amax(const Problem& p, const CodeTensor& values) {
    CodeTensor rotated;
    return fast::f32_code(amax_of_tensor(p, transformed(p, values, rotated)));
}

std::vector<CodeTensor> expect(const Problem& p, const std::vector<CodeTensor>& inputs) {
    switch (p.operation) {
        case OperationKind::convert:
            return alone(expect_convert(p, inputs));
        case OperationKind::encode_scale:
            return alone(expect_scales(p, inputs[0]));
        case OperationKind::quantize:
            return expect_sides(p, inputs);
        case OperationKind::dequantize:
            return alone(expect_values(p, inputs));
        case OperationKind::gemm:
            return expect_gemm(p, inputs);
    }
    MX_ASSERT(false && "an operation without an answer");
    return {};
}

}  // namespace mx
