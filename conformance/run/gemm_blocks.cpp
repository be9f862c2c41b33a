// See gemm_blocks.hpp.
#include "conformance/run/gemm_blocks.hpp"

#include <algorithm>

#include "reference/exact/gemm_output.hpp"
#include "reference/fast/gemm_output.hpp"

namespace mx {
namespace {

constexpr ElementFormat f32 = formats::f32;
// The largest element of NVFP4 under its largest scale.
constexpr std::uint32_t f32_6_times_448 = 0x45280000;

std::int64_t blocks_of_row(const GemmRules& rules) {
    const std::int64_t size = rules.blocks->size;
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

OutputBlock block_of_values(const OutputBlocks& blocks, std::span<const fast::Unpacked> lanes) {
    std::vector<std::uint8_t> elements(lanes.size());
    const int count = static_cast<int>(lanes.size());
    const Code scale = fast::quantize_exact_block(*blocks.quantizer, *blocks.format, lanes.data(),
                                                  count, elements.data());
    return made_of(scale, elements);
}

// The name of a decision that is open; "" where it is not.
std::string open_name(const OutputBlocks& blocks, Decision decision) {
    for (const auto& [name, text, known] : decisions)
        if (known == decision && blocks.quantizer->leaves_open(known))
            return std::string(blocks.quantizer->has_e8m0_scales() ? name : text);
    return "";
}

}  // namespace

std::int64_t output_block_count(const GemmRules& rules) {
    return rules.setting.batches * rules.setting.m * blocks_of_row(rules);
}

OutputBlockPlace output_block(const GemmRules& rules, std::int64_t block) {
    const std::int64_t per_row = blocks_of_row(rules), size = rules.blocks->size;
    const std::int64_t first = block % per_row * size;
    return {{block / per_row, first}, std::min<std::int64_t>(size, rules.setting.n - first)};
}

std::int64_t output_block_of(const GemmRules& rules, const OutputPlace& place) {
    return place.row * blocks_of_row(rules) + place.column / rules.blocks->size;
}

std::size_t lane_in_output_block(const GemmRules& rules, const OutputPlace& place) {
    return static_cast<std::size_t>(place.column % rules.blocks->size);
}

std::string open_decision_of(const OutputBlocks& blocks, std::span<const Code> numbers,
                             Code scale) {
    bool nan = false, infinity = false;
    std::uint32_t largest = 0;
    for (const Code number : numbers) {
        nan = nan || f32.is_nan(number);
        infinity = infinity || f32.is_infinity(number);
        largest = std::max(largest, f32.magnitude(number));
    }
    const bool is_zero = largest == 0;
    const bool is_e8m0 = blocks.quantizer->has_e8m0_scales();
    const bool is_beyond = is_e8m0 ? scale.bits <= 1 && !is_zero
                                   : (scale.bits == 0 && !is_zero) || largest > f32_6_times_448;
    struct Met {
        bool is_met;
        Decision decision;
    };
    for (const Met& met :
         {Met{nan, Decision::nan_in_block}, Met{nan, Decision::nan_code},
          Met{infinity, Decision::infinity_in_block}, Met{is_zero, Decision::zero_block},
          Met{is_beyond, is_e8m0 ? Decision::scale_underflow : Decision::scale_range}})
        if (met.is_met)
            if (std::string open = open_name(blocks, met.decision); !open.empty()) return open;
    return "";
}

bool may_become_nan(const OutputBlocks& blocks, std::span<const Code> numbers) {
    const std::uint32_t end =
        blocks.quantizer->has_e8m0_scales() ? f32.code_max_finite() : f32_6_times_448;
    return std::ranges::any_of(numbers,
                               [end](const Code number) { return f32.magnitude(number) > end; });
}

std::string open_sign_of_zero(const OutputBlocks& blocks) {
    return open_name(blocks, Decision::sign_of_zero);
}

std::optional<Code> element_under(const OutputBlocks& blocks, const ScaledNumber& scaled) {
    const fast::Unpacked value = fast::unpack(f32, scaled.number);
    const fast::Unpacked factor = fast::unpack(blocks.scale, scaled.scale);
    if (value.kind != fast::Kind::finite || factor.kind != fast::Kind::finite ||
        factor.significand == 0)
        return std::nullopt;
    const Quantizer& quantizer = *blocks.quantizer;
    if (quantizer.has_e8m0_scales())
        return fast::quantize_element(quantizer, *blocks.format, scaled.scale, value);
    const fast::BlockQuestion question{
        quantizer, *blocks.format, f32,
        fast::tensor_numbers(quantizer, *blocks.format, fast::whole(1))};
    return fast::quantize_lane(
        question,
        {scaled.scale, factor, fast::factor_of(quantizer.inverse, factor, fast::whole(1))}, value);
}

OutputBlock block_of_numbers(const GemmRules& rules, std::span<const Code> numbers) {
    const OutputBlocks& blocks = *rules.blocks;
    if (!blocks.quantizer->has_e8m0_scales()) {
        std::vector<fast::Unpacked> lanes;
        for (const Code number : numbers) lanes.push_back(fast::unpack(f32, number));
        return block_of_values(blocks, lanes);
    }
    std::vector<std::uint32_t> lanes;
    for (const Code number : numbers) lanes.push_back(number.bits);
    std::vector<std::uint8_t> elements(lanes.size());
    const Code scale = fast::quantize_block(*blocks.quantizer, *blocks.format, f32, lanes.data(),
                                            static_cast<int>(lanes.size()), elements.data());
    return made_of(scale, elements);
}

std::vector<OutputBlock> expected_blocks(const GemmRules& rules, const GemmOperands& operands) {
    std::vector<OutputBlock> made;
    const std::int64_t count = output_block_count(rules), columns = rules.setting.n;
    if (rules.model != nullptr) {
        for (std::int64_t block = 0; block < count; ++block) {
            const OutputBlockPlace place = output_block(rules, block);
            std::vector<Code> numbers;
            for (std::int64_t lane = 0; lane < place.count; ++lane)
                numbers.push_back(expected_result(rules, operands.output(place.lane(lane))));
            made.push_back(block_of_numbers(rules, numbers));
        }
        return made;
    }
    const GemmSetting& s = rules.setting;
    std::vector<fast::Unpacked> values(static_cast<std::size_t>(s.batches * s.m * columns));
    for_each_exact(rules, operands, [&](const OutputPlace& place, const fast::Total& total) {
        values[static_cast<std::size_t>(place.row * columns + place.column)] = exact_number(total);
    });
    for (std::int64_t block = 0; block < count; ++block) {
        const OutputBlockPlace place = output_block(rules, block);
        const auto first = static_cast<std::size_t>(place.first.row * columns + place.first.column);
        made.push_back(block_of_values(
            *rules.blocks,
            std::span(values).subspan(first, static_cast<std::size_t>(place.count))));
    }
    return made;
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
    const OutputBlocks& blocks = *rules.blocks;
    const bool reads_numbers = rules.model != nullptr && blocks.quantizer->has_e8m0_scales();
    const exact::Block block =
        reads_numbers ? exact::quantize_block(*blocks.quantizer, *blocks.format, lanes)
                      : exact::quantize_exact_block(*blocks.quantizer, *blocks.format, lanes);
    return {block.scale, block.elements};
}

}  // namespace mx
