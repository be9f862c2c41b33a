// See rotated_block.hpp.
#include "conformance/run/rotated_block.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
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
    return exact::rounded_in(formats::bf16, exact::number(sum));
}

// What a rotated lane adds and what it subtracts: quarters of 16 lanes, as the row has them.
struct Terms {
    exact::Rational added = 0, subtracted = 0;
};

Terms terms_of(std::span<const exact::Value> lanes, int to) {
    Terms terms;
    for (int from = 0; from < hadamard_size; ++from) {
        const exact::Value& lane = lanes[static_cast<std::size_t>(from)];
        const bool is_below_zero = hadamard_subtracts(from, to) != lane.negative;
        (is_below_zero ? terms.subtracted : terms.added) += lane.magnitude / 4;
    }
    return terms;
}

// Sixteen sums in binary32, in whatever order and rounded in whatever direction, err by a factor of
// at most 1 + 2^-23 each: together by T * ((1 + 2^-23)^16 - 1), where T is the sum of all
// magnitudes. A unit that cuts sixteen products 23 bits below the largest errs by no more. A sum of
// bfloat16 values never needs bits below those of binary32.
LaneRange range_of(const Terms& terms) {
    exact::Rational growth = 1;
    for (int sum = 0; sum < hadamard_size; ++sum)
        growth *= 1 + exact::power_of_two(-formats::f32.mantissa_bits);
    const exact::Rational error = (terms.added + terms.subtracted) * (growth - 1);
    const exact::Rational sum = terms.added - terms.subtracted;
    LaneRange range{bounded(sum - error), bounded(sum + error)};
    // A sum on the way may be infinite although the last is not: one of what is added alone, or of
    // what is subtracted alone; and NaN where two such sums meet.
    const exact::Rational largest = exact::largest_of(formats::f32).magnitude;
    const exact::Value infinity{exact::Value::Kind::infinity, false, 0};
    if (terms.added * growth > largest) range.high = infinity;
    if (terms.subtracted * growth > largest) range.low = exact::negated(infinity);
    return range;
}

bool has_both_signs(const LaneRange& range) {
    return range.low.negative != range.high.negative;
}

bool may_be_nan(const LaneRange& range) {
    return range.low.is_infinity() && range.high.is_infinity() && has_both_signs(range);
}

std::vector<Choice> choices_of(const Quantizer& row, std::span<const LaneRange> ranges) {
    std::vector<Choice> choices{{row, 0}};
    const auto has_nan = [](const LaneRange& r) { return may_be_nan(r) || r.low.is_nan(); };
    const auto has_infinity = [](const LaneRange& r) {
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
             std::initializer_list{NanInBlock::poisons_amax, NanInBlock::own_lane_only});
    if (std::ranges::any_of(ranges, has_infinity))
        also(Decision::infinity_in_block, &Quantizer::infinity_in_block,
             std::initializer_list{InfinityInBlock::is_amax, InfinityInBlock::own_lane_only});
    return choices;
}

// The amax of a block: an interval, or beside it NaN.
struct AmaxRange {
    exact::Value least, largest;
    bool may_be_nan = false;
};

// An infinity that the amax leaves out leaves the largest number, where the lane may be that too.
exact::Value counted(const Quantizer& rules, const LaneRange& range, const exact::Value& end) {
    const bool is_certain = range.low.is_infinity() && range.high.is_infinity();
    const bool is_left_out = rules.infinity_in_block == InfinityInBlock::own_lane_only &&
                             end.is_infinity() && (!is_certain || has_both_signs(range));
    return is_left_out ? exact::largest_of(formats::bf16) : end;
}

AmaxRange amax_range(const Quantizer& rules, std::span<const LaneRange> ranges) {
    std::vector<exact::Value> least, largest, with_nan;
    const exact::Value nan{exact::Value::Kind::nan, false, 0};
    for (const LaneRange& range : ranges) {
        const bool is_negative = range.high.negative;
        const exact::Value &inner = is_negative ? range.high : range.low,
                           &outer = is_negative ? range.low : range.high;
        const bool is_left_out = outer.is_infinity() && !inner.is_infinity() &&
                                 rules.infinity_in_block == InfinityInBlock::own_lane_only;
        const bool reaches_zero = has_both_signs(range) || is_left_out;
        least.push_back(reaches_zero ? exact::Value{} : inner);
        largest.push_back(counted(rules, range, outer));
        if (has_both_signs(range)) largest.push_back(counted(rules, range, range.low));
        with_nan.push_back(may_be_nan(range) ? nan : outer);
    }
    return {exact::amax_of(rules, least), exact::amax_of(rules, largest),
            exact::amax_of(rules, with_nan).is_nan()};
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
    const exact::TensorNumbers tensor =
        site.device_tensor ? site.device_tensor->numbers : site.tensor;
    const fast::BlockQuestion question{
        choice.rules,
        format,
        c.type,
        {unpacked(formats::f32, tensor.amax), unpacked(formats::f32, tensor.scale)}};
    const AmaxRange amax = amax_range(choice.rules, site.rotated);
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
    const LaneRange& lane = site.rotated[static_cast<std::size_t>(site.lane)];
    const int actual = place_of(format.element(), Code{d.actual});
    return (may_be_nan(lane) && actual == place(nan)) ||
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

std::vector<LaneRange> rotated_ranges(const Case& c, std::span<const Code> lanes) {
    std::vector<exact::Value> values;
    for (const Code code : lanes)
        values.push_back(exact::read_input(c.dialect->subnormals, c.type, code));
    std::vector<LaneRange> ranges;
    for (std::size_t first = 0; first < values.size(); first += hadamard_size) {
        const auto group = std::span(values).subspan(first, hadamard_size);
        const auto codes = lanes.subspan(first, hadamard_size);
        if (c.dialect->leaves_open(Decision::transform_order) && hangs_on_order(c, codes))
            for (int to = 0; to < hadamard_size; ++to)
                ranges.push_back(range_of(terms_of(group, to)));
        else
            for (const exact::Value& lane : exact::transformed(*c.dialect, group))
                ranges.push_back({lane, lane});
    }
    return ranges;
}

std::uint32_t amax_decisions(const Quantizer& row, std::span<const LaneRange> ranges,
                             const exact::Value& amax) {
    const auto code = [](const exact::Value& value) {
        return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
    };
    for (const Choice& choice : choices_of(row, ranges)) {
        const AmaxRange range = amax_range(choice.rules, ranges);
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
