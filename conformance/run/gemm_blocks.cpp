// See gemm_blocks.hpp.
#include "conformance/run/gemm_blocks.hpp"

#include <algorithm>

#include "reference/exact/gemm_output.hpp"
#include "reference/fast/gemm_output.hpp"

namespace mx {
namespace {

constexpr ElementFormat f32 = formats::f32;

std::int64_t blocks_of_row(const GemmRules& rules) {
    const std::int64_t size = rules.blocks->block_size;
    return (rules.setting.n + size - 1) / size;
}

OutputBlock made_of(Code scale, const std::vector<std::uint8_t>& elements) {
    OutputBlock block{scale, {}};
    for (const std::uint8_t element : elements) block.elements.push_back(Code{element});
    return block;
}

// All its digits but for those that one of them stands for.
fast::Unpacked exact_number(const fast::Total& total) {
    const fast::Kind kind = fast::kind_of(total);
    if (kind == fast::Kind::finite) return fast::leading_bits(total.sum);
    return {kind, kind == fast::Kind::infinity && total.negative_infinity, 0, 0};
}

}  // namespace

std::int64_t output_block_count(const GemmRules& rules) {
    return rules.setting.batches * rules.setting.m * blocks_of_row(rules);
}

OutputBlockPlace output_block(const GemmRules& rules, std::int64_t block) {
    const std::int64_t per_row = blocks_of_row(rules), size = rules.blocks->block_size;
    const std::int64_t first = block % per_row * size;
    return {{block / per_row, first}, std::min<std::int64_t>(size, rules.setting.n - first)};
}

std::int64_t output_block_of(const GemmRules& rules, const OutputPlace& place) {
    return place.row * blocks_of_row(rules) + place.column / rules.blocks->block_size;
}

std::size_t lane_in_output_block(const GemmRules& rules, const OutputPlace& place) {
    return static_cast<std::size_t>(place.column % rules.blocks->block_size);
}

OutputBlock block_of_numbers(const GemmRules& rules, std::span<const Code> numbers) {
    std::vector<std::uint32_t> lanes;
    for (const Code number : numbers) lanes.push_back(number.bits);
    std::vector<std::uint8_t> elements(lanes.size());
    const Code scale = fast::quantize_block(*rules.dialect, *rules.blocks, f32, lanes.data(),
                                            static_cast<int>(lanes.size()), elements.data());
    return made_of(scale, elements);
}

OutputBlock expected_block(const GemmRules& rules, const GemmOperands& operands,
                           const OutputBlockPlace& place) {
    if (rules.model != nullptr) {
        std::vector<Code> numbers;
        for (std::int64_t lane = 0; lane < place.count; ++lane)
            numbers.push_back(expected_result(rules, operands.output(place.lane(lane))));
        return block_of_numbers(rules, numbers);
    }
    std::vector<fast::Unpacked> lanes;
    for (std::int64_t lane = 0; lane < place.count; ++lane)
        lanes.push_back(exact_number(exact_total(rules, operands.output(place.lane(lane)))));
    std::vector<std::uint8_t> elements(lanes.size());
    const Code scale = fast::quantize_exact_block(*rules.dialect, *rules.blocks, lanes.data(),
                                                  static_cast<int>(lanes.size()), elements.data());
    return made_of(scale, elements);
}

OutputBlock confirmed_block(const GemmRules& rules, const GemmOperands& operands,
                            const OutputBlockPlace& place) {
    std::vector<exact::Value> lanes;
    for (std::int64_t lane = 0; lane < place.count; ++lane) {
        const GemmOutput output = operands.output(place.lane(lane));
        lanes.push_back(rules.model == nullptr
                            ? exact_value(rules, output)
                            : exact::decode(f32, confirmed_result(rules, output)));
    }
    const exact::Block block =
        rules.model == nullptr ? exact::quantize_exact_block(*rules.dialect, *rules.blocks, lanes)
                               : exact::quantize_block(*rules.dialect, *rules.blocks, lanes);
    return {block.scale, block.elements};
}

}  // namespace mx
