// See rotated_block.hpp.
#include "conformance/run/rotated_block.hpp"

#include <algorithm>
#include <array>

#include "reference/exact/f32_arithmetic.hpp"

namespace mx {
namespace {

// One way to decide what the row leaves open, beside the order.
struct Choice {
    Quantizer rules;
    std::uint32_t decisions = 0;
};

std::vector<Choice> choices_of(const Quantizer& row, std::span<const exact::LaneRange> ranges) {
    std::vector<Choice> choices{{row, 0}};
    const auto has_nan = [](const exact::LaneRange& r) { return r.may_be_nan() || r.low.is_nan(); };
    const auto has_infinity = [](const exact::LaneRange& r) {
        return r.low.is_infinity() || r.high.is_infinity();
    };
    const auto also = [&](Decision decision, auto member, auto values) {
        if (!row.leaves_open(decision)) return;
        for (std::size_t known = choices.size(), i = 0; i < known; ++i)
            for (const auto value : values) {
                if (value == row.*member) continue;
                Choice other = choices[i];
                other.rules.*member = value;
                other.decisions = other.decisions | decision;
                choices.push_back(other);
            }
    };
    if (std::ranges::any_of(ranges, has_nan))
        also(Decision::nan_in_block, &Quantizer::nan_in_block,
             std::array{NanInBlock::poisons_amax, NanInBlock::own_lane_only});
    if (std::ranges::any_of(ranges, has_infinity))
        also(Decision::infinity_in_block, &Quantizer::infinity_in_block,
             std::array{InfinityInBlock::is_amax, InfinityInBlock::own_lane_only});
    return choices;
}

fast::Unpacked unpacked(const ElementFormat& format, const exact::Value& value) {
    return fast::unpack(format,
                        exact::round(format, Rounding::nearest_even, Overflow::overflow, value));
}

// Codes as numbers that stand in the order of the values, -0 before +0.
int place_of(const ElementFormat& format, Code code) {
    const int magnitude = static_cast<int>(format.magnitude(code));
    return format.is_negative(code) ? -magnitude - 1 : magnitude;
}

// Scales and elements grow with the amax and the lane, and all codes between two that are reached
// are: a bfloat16 has more digits than any of them.
bool allows(const Choice& choice, const Case& c, const Site& site, const Difference& d) {
    const BlockFormat& format = *c.format;
    const exact::TensorNumbers& tensor =
        site.device_tensor ? site.device_tensor->numbers : site.tensor;
    const fast::BlockQuestion question{choice.rules, format, c.type, numbers_for_fast(tensor)};
    const exact::AmaxRange amax = exact::amax_range(choice.rules, site.rotated);
    const auto stored = [&](const fast::Unpacked& value) {
        return fast::block_scale(question, value).stored;
    };
    const fast::Unpacked nan{fast::Kind::nan, false, 0, 0};
    const Code scale = site.actual_scale;
    const bool is_of_nan = amax.may_be_nan && scale == stored(nan);
    if (!is_of_nan && (scale.bits < stored(unpacked(formats::bf16, amax.least)).bits ||
                       scale.bits > stored(unpacked(formats::bf16, amax.largest)).bits))
        return false;
    if (site.is_scale) return true;
    const auto place = [&](const fast::Unpacked& lane) {
        return place_of(format.element(), element_under(question, scale, lane, site.random));
    };
    const exact::LaneRange& lane = site.rotated[static_cast<std::size_t>(site.lane)];
    const int actual = place_of(format.element(), Code{d.actual});
    return (lane.may_be_nan() && actual == place(nan)) ||
           (place(unpacked(formats::bf16, lane.low)) <= actual &&
            actual <= place(unpacked(formats::bf16, lane.high)));
}

}  // namespace

Code element_under(const fast::BlockQuestion& question, Code stored, const fast::Unpacked& lane,
                   RandomBits random) {
    const Quantizer& rules = question.quantizer;
    fast::Unpacked scale = fast::unpack(question.format.scale(), stored);
    if (rules.stores_inverse()) scale = fast::quotient(fast::whole(1), scale);
    const fast::Unpacked factor = fast::factor_of(rules.inverse, scale, question.tensor.scale);
    return fast::quantize_lane(question, {stored, scale, factor}, lane, random);
}

fast::TensorNumbers numbers_for_fast(const exact::TensorNumbers& tensor) {
    return {unpacked(formats::f32, tensor.amax), unpacked(formats::f32, tensor.scale)};
}

std::vector<exact::LaneRange> rotated_ranges(const Case& c, std::span<const Code> lanes) {
    std::vector<exact::Value> values;
    for (const Code code : lanes)
        values.push_back(exact::read_input(c.dialect->subnormals, c.type, code));
    return exact::rotated_ranges(*c.dialect, values);
}

std::uint32_t amax_decisions(const Quantizer& row, std::span<const exact::LaneRange> ranges,
                             const exact::Value& amax) {
    const auto code = [](const exact::Value& value) {
        return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
    };
    for (const Choice& choice : choices_of(row, ranges)) {
        const exact::AmaxRange range = exact::amax_range(choice.rules, ranges);
        const bool is_reached = amax.is_nan() ? range.may_be_nan || range.largest.is_nan()
                                              : !range.largest.is_nan() && !amax.negative &&
                                                    code(range.least) <= code(amax) &&
                                                    code(amax) <= code(range.largest);
        if (!is_reached) continue;
        return choice.decisions != 0 ? choice.decisions : 0u | Decision::transform_order;
    }
    return 0;
}

std::uint32_t rotated_decisions(const Case& c, const Site& site, const Difference& d) {
    const Quantizer& row = *c.dialect;
    MX_ASSERT(row.candidate_error == CandidateError::none);
    for (const Choice& choice : choices_of(row, site.rotated)) {
        if (!allows(choice, c, site, d)) continue;
        return choice.decisions != 0 ? choice.decisions : 0u | Decision::transform_order;
    }
    return 0;
}

}  // namespace mx
