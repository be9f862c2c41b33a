// See expected.hpp.
#include "conformance/run/expected.hpp"

#include <array>

#include "conformance/case/rules.hpp"
#include "reference/fast/block.hpp"

namespace mx {
namespace {

// Applies a function of one code to every element.
template <typename Function>
CodeTensor map_codes(const CodeTensor& input, std::string_view type, const Function& function) {
    CodeTensor output = make_tensor(type, input.rows, input.columns);
    for (std::size_t i = 0; i < input.count(); ++i) output.set(i, function(Code{input.at(i)}).bits);
    return output;
}

CodeTensor expect_convert(const Case& c, const CodeTensor& input) {
    const Dialect rules = rules_of(c);
    const ElementFormat value = value_format_of(c);
    const ElementFormat element = block_format_of(c).element();
    return map_codes(input, element.name, [&](Code code) {
        return fast::round_element(rules, element, fast::unpack(value, code));
    });
}

CodeTensor expect_scales(const Case& c, const CodeTensor& input) {
    const Dialect rules = rules_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockFormat& format = block_format_of(c);
    return map_codes(input, "e8m0", [&](Code code) {
        return fast::encode_scale(rules, format, fast::unpack(value, code));
    });
}

std::vector<CodeTensor> expect_quantize(const Case& c, const CodeTensor& input) {
    const Dialect rules = rules_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockFormat& format = block_format_of(c);
    const BlockGrid grid = block_grid(c);
    CodeTensor elements = make_tensor(format.element().name, c.rows, c.columns);
    CodeTensor scales = make_tensor("e8m0", grid.block_rows, grid.block_columns);
    std::array<std::uint32_t, block_size> lanes{};
    std::array<std::uint8_t, block_size> codes{};
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        const auto element_of = [&place](int lane) {
            return place.first + static_cast<std::size_t>(lane) * place.step;
        };
        for (int lane = 0; lane < place.count; ++lane)
            lanes[static_cast<std::size_t>(lane)] = input.at(element_of(lane));
        const Code scale =
            fast::quantize_block(rules, format, value, lanes.data(), place.count, codes.data());
        for (int lane = 0; lane < place.count; ++lane)
            elements.set(element_of(lane), codes[static_cast<std::size_t>(lane)]);
        scales.set(static_cast<std::size_t>(block), scale.bits);
    }
    std::vector<CodeTensor> outputs;
    outputs.push_back(std::move(elements));
    outputs.push_back(std::move(scales));
    return outputs;
}

CodeTensor expect_values(const Case& c, const std::vector<CodeTensor>& inputs) {
    const BlockFormat& format = block_format_of(c);
    const ElementFormat value = value_format_of(c);
    const BlockGrid grid = block_grid(c);
    CodeTensor output = make_tensor(c.type, c.rows, c.columns);
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        const Code scale{inputs[1].at(static_cast<std::size_t>(block))};
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.first + static_cast<std::size_t>(lane) * place.step;
            const Code code{inputs[0].at(element)};
            output.set(element, fast::dequantize(format, value, scale, code).bits);
        }
    }
    return output;
}

}  // namespace

std::vector<CodeTensor> expect(const Case& c, const std::vector<CodeTensor>& inputs) {
    if (c.operation == "quantize") return expect_quantize(c, inputs[0]);
    std::vector<CodeTensor> outputs;
    if (c.operation == "convert") outputs.push_back(expect_convert(c, inputs[0]));
    if (c.operation == "encode_scale") outputs.push_back(expect_scales(c, inputs[0]));
    if (c.operation == "dequantize") outputs.push_back(expect_values(c, inputs));
    return outputs;
}

}  // namespace mx
