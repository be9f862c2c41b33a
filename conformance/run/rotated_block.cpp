// See rotated_block.hpp.
#include "conformance/run/rotated_block.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "reference/exact/quantize.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx {
namespace {

// One way to decide what the row leaves open, beside the order.
struct Choice {
    Quantizer rules;
    std::uint32_t decisions = 0;
};

exact::Rational magnitude_of_lanes(std::span<const exact::Value> lanes) {
    exact::Rational total = 0;
    for (const exact::Value& lane : lanes) total += lane.magnitude;
    return total;
}

// Can the 16 sums of a rotated group come out differently in another order? Not where all that is
// added lies in the 24 bits of binary32 above the lowest bit there is.
bool hangs_on_order(const Case& c, std::span<const Code> lanes) {
    std::optional<int> lowest;
    int highest = 0;
    for (const Code code : lanes) {
        const fast::Unpacked lane = fast::unpack(c.type, code);
        if (lane.kind != fast::Kind::finite) return false;  // and then none of them is finite
        if (lane.significand == 0) continue;
        const int bottom = lane.exponent + std::countr_zero(lane.significand);
        const int top = lane.exponent + fast::bit_width(lane.significand);
        highest = lowest ? std::max(highest, top) : top;
        lowest = lowest ? std::min(*lowest, bottom) : bottom;
    }
    constexpr int sixteen_lanes = 4;
    return lowest && highest + sixteen_lanes - *lowest > formats::f32.mantissa_bits + 1;
}

exact::Value bounded(const exact::Rational& sum) {
    return exact::rounded_in(formats::bf16, exact::number(sum / 4));
}

// The exact sum of a rotated lane, before it is divided by 4.
exact::Rational exact_sum(std::span<const exact::Value> lanes, int to) {
    exact::Rational total = 0;
    for (int from = 0; from < hadamard_size; ++from) {
        const exact::Value& lane = lanes[static_cast<std::size_t>(from)];
        const bool is_below_zero = hadamard_subtracts(from, to) != lane.negative;
        total += is_below_zero ? exact::Rational(-lane.magnitude) : lane.magnitude;
    }
    return total;
}

// Sixteen sums in binary32, in whatever order and rounded in whatever direction, err by a factor of
// at most 1 + 2^-23 each: together by T * ((1 + 2^-23)^16 - 1), where T is the sum of all
// magnitudes. A unit that cuts sixteen products 23 bits below the largest errs by no more. A sum of
// bfloat16 values never needs bits below those of binary32.
void add_ranges(std::span<const exact::Value> lanes, std::vector<LaneRange>& ranges) {
    const exact::Rational growth = 1 + exact::power_of_two(-formats::f32.mantissa_bits);
    exact::Rational grown = magnitude_of_lanes(lanes);
    const exact::Rational total = grown;
    for (int sum = 0; sum < hadamard_size; ++sum) grown *= growth;
    const exact::Rational error = grown - total;
    // A sum on the way may be infinite although the last is not.
    if (grown > exact::largest_of(formats::f32).magnitude) {
        const exact::Value infinity{exact::Value::Kind::infinity, false, 0};
        ranges.insert(ranges.end(), hadamard_size, {exact::negated(infinity), infinity});
        return;
    }
    for (int to = 0; to < hadamard_size; ++to) {
        const exact::Rational sum = exact_sum(lanes, to);
        ranges.push_back({bounded(sum - error), bounded(sum + error)});
    }
}

std::vector<Choice> choices_of(const Quantizer& row, std::span<const LaneRange> ranges) {
    std::vector<Choice> choices{{row, 0}};
    const auto has = [&](exact::Value::Kind kind) {
        return std::ranges::any_of(
            ranges, [&](const LaneRange& r) { return r.low.kind == kind || r.high.kind == kind; });
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
    if (has(exact::Value::Kind::nan))
        also(Decision::nan_in_block, &Quantizer::nan_in_block,
             std::initializer_list{NanInBlock::poisons_amax, NanInBlock::own_lane_only});
    if (has(exact::Value::Kind::infinity))
        also(Decision::infinity_in_block, &Quantizer::infinity_in_block,
             std::initializer_list{InfinityInBlock::is_amax, InfinityInBlock::own_lane_only});
    return choices;
}

bool has_both_signs(const LaneRange& range) {
    return range.low.negative != range.high.negative;
}

// The least and the largest amax of the block.
LaneRange amax_range(const Quantizer& rules, std::span<const LaneRange> ranges) {
    std::vector<exact::Value> least, largest;
    for (const LaneRange& range : ranges) {
        const bool is_negative = range.high.negative;
        const exact::Value &inner = is_negative ? range.high : range.low,
                           &outer = is_negative ? range.low : range.high;
        least.push_back(has_both_signs(range) ? exact::Value{} : inner);
        largest.push_back(outer);
        if (has_both_signs(range)) largest.push_back(range.low);
    }
    return {exact::amax_of(rules, least), exact::amax_of(rules, largest)};
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
    const fast::BlockQuestion question{
        choice.rules,
        format,
        c.type,
        {unpacked(formats::f32, site.tensor.amax), unpacked(formats::f32, site.tensor.scale)}};
    const LaneRange amax = amax_range(choice.rules, site.rotated);
    const auto stored = [&](const exact::Value& value) {
        return fast::block_scale(question, unpacked(formats::bf16, value)).stored.bits;
    };
    const Code scale = site.actual_scale;
    if (scale.bits < stored(amax.low) || scale.bits > stored(amax.high)) return false;
    if (site.is_scale) return true;
    const fast::Unpacked value = fast::unpack(format.scale(), scale);
    const fast::BlockScale under{
        scale, value, fast::factor_of(choice.rules.inverse, value, question.tensor.scale)};
    const auto place = [&](const exact::Value& lane) {
        return place_of(
            format.element(),
            fast::quantize_lane(question, under, unpacked(formats::bf16, lane), site.random));
    };
    const LaneRange& lane = site.rotated[static_cast<std::size_t>(site.lane)];
    const int actual = place_of(format.element(), Code{d.actual});
    return place(lane.low) <= actual && actual <= place(lane.high);
}

}  // namespace

std::vector<LaneRange> rotated_ranges(const Case& c, std::span<const Code> lanes) {
    std::vector<exact::Value> values;
    for (const Code code : lanes)
        values.push_back(exact::read_input(c.dialect->subnormals, c.type, code));
    std::vector<LaneRange> ranges;
    for (std::size_t first = 0; first < values.size(); first += hadamard_size) {
        const auto group = std::span(values).subspan(first, hadamard_size);
        const auto codes = lanes.subspan(first, hadamard_size);
        if (c.dialect->leaves_open(Decision::transform_order) && hangs_on_order(c, codes))
            add_ranges(group, ranges);
        else
            for (const exact::Value& lane : exact::transformed(*c.dialect, group))
                ranges.push_back({lane, lane});
    }
    return ranges;
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
