// See output_blocks.hpp.
#include "reference/gemm/output_blocks.hpp"

#include <algorithm>

#include "reference/fast/gemm_output.hpp"

namespace mx::gemm {
namespace {

constexpr ElementFormat f32 = formats::f32;
// The largest element of NVFP4 under its largest scale.
constexpr std::uint32_t f32_6_times_448 = 0x45280000;

std::int64_t blocks_of_row(const ProblemView& problem) {
    const std::int64_t size = problem.blocks->size();
    return (problem.n + size - 1) / size;
}

OutputBlock made_of(Code scale, const std::vector<std::uint8_t>& elements) {
    OutputBlock block{scale, {}};
    for (const std::uint8_t element : elements) block.elements.push_back(Code{element});
    return block;
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

std::int64_t output_block_count(const ProblemView& problem) {
    return problem.batches * problem.m * blocks_of_row(problem);
}

OutputBlockPlace output_block(const ProblemView& problem, std::int64_t block) {
    const std::int64_t per_row = blocks_of_row(problem), size = problem.blocks->size();
    const std::int64_t first = block % per_row * size;
    return {{block / per_row, first}, std::min<std::int64_t>(size, problem.n - first)};
}

std::int64_t output_block_of(const ProblemView& problem, const OutputPlace& place) {
    return place.row * blocks_of_row(problem) + place.column / problem.blocks->size();
}

std::size_t lane_in_output_block(const ProblemView& problem, const OutputPlace& place) {
    return static_cast<std::size_t>(place.column % problem.blocks->size());
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

OutputBlock block_of_numbers(const ProblemView& problem, std::span<const Code> numbers) {
    const OutputBlocks& blocks = *problem.blocks;
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

std::vector<OutputBlock> expected_blocks(const ProblemView& problem) {
    // The lanes of a block among those of all of D.
    const auto lanes_of = [&problem](const auto& all, std::int64_t block) {
        const OutputBlockPlace place = output_block(problem, block);
        return std::span(all).subspan(static_cast<std::size_t>(problem.index(place.first)),
                                      static_cast<std::size_t>(place.count));
    };
    const std::int64_t count = output_block_count(problem);
    std::vector<OutputBlock> made;
    if (!problem.is_exact()) {
        const std::vector<Code> numbers = expected_results(problem);
        for (std::int64_t block = 0; block < count; ++block)
            made.push_back(block_of_numbers(problem, lanes_of(numbers, block)));
        return made;
    }
    std::vector<fast::Unpacked> values(static_cast<std::size_t>(problem.outputs()));
    for_each_number(problem, {0, problem.outputs()},
                    [&](std::int64_t output, const fast::Unpacked& value) {
                        values[static_cast<std::size_t>(output)] = value;
                    });
    for (std::int64_t block = 0; block < count; ++block)
        made.push_back(block_of_values(*problem.blocks, lanes_of(values, block)));
    return made;
}

}  // namespace mx::gemm
