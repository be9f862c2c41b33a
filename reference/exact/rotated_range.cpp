// See rotated_range.hpp.
#include "reference/exact/rotated_range.hpp"

#include <algorithm>

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/exact/real_scale.hpp"

namespace mx::exact {
namespace {

// What an output adds and what it subtracts.
struct Terms {
    Rational added = 0, subtracted = 0;
};

Terms terms_of(std::span<const Value> lanes, int to) {
    Terms terms;
    for (int from = 0; from < hadamard_size; ++from) {
        const Value& lane = lanes[static_cast<std::size_t>(from)];
        MX_ASSERT(lane.is_finite());
        const bool is_below_zero = hadamard_subtracts(from, to) != lane.negative;
        (is_below_zero ? terms.subtracted : terms.added) += lane.magnitude / 4;
    }
    return terms;
}

// The exponent of the lowest one bit of a binary fraction that is not 0.
int lowest_bit(const Rational& value) {
    const Integer units = numerator(value);
    return static_cast<int>(lsb(units)) - floor_log2(Rational(denominator(value)));
}

// Is any sum of these lanes a number of binary32, as far as its digits go? So it is where 16 of the
// largest binade end within 24 bits above the lowest bit there is: the sums are multiples of that.
bool sums_are_exact(std::span<const Value> lanes) {
    int lowest = 0, highest = 0;
    bool is_first = true;
    for (const Value& lane : lanes) {
        if (is_zero(lane)) continue;
        const int bottom = lowest_bit(lane.magnitude), top = floor_log2(lane.magnitude) + 1;
        lowest = is_first ? bottom : std::min(lowest, bottom);
        highest = is_first ? top : std::max(highest, top);
        is_first = false;
    }
    constexpr int sixteen_lanes = 4;
    return is_first || highest + sixteen_lanes - lowest <= formats::f32.mantissa_bits + 1;
}

Value bounded(const Rational& sum) {
    return rounded_in(formats::bf16, number(sum));
}

// An infinity that the amax leaves out leaves the largest number, where the lane may be that too.
Value counted(const Quantizer& quantizer, const LaneRange& range, const Value& end) {
    const bool is_certain = range.low.is_infinity() && range.high.is_infinity();
    const bool is_left_out = quantizer.infinity_in_block == InfinityInBlock::own_lane_only &&
                             end.is_infinity() && (!is_certain || range.has_both_signs());
    return is_left_out ? largest_of(formats::bf16) : end;
}

}  // namespace

// A rounded sum errs by a factor of at most 1 + 2^-23, and so the last one by at most
// T * ((1 + 2^-23)^n - 1) after n of them, where T is the sum of all magnitudes. A unit that cuts
// sixteen products 23 bits below the largest errs by no more. A sum of bfloat16 values never needs
// bits below those of binary32.
LaneRange rotated_range(std::span<const Value> lanes, int to, int roundings) {
    const Terms terms = terms_of(lanes, to);
    if (sums_are_exact(lanes)) roundings = 0;
    Rational growth = 1;
    for (int sum = 0; sum < roundings; ++sum)
        growth *= 1 + power_of_two(-formats::f32.mantissa_bits);
    const Rational error = (terms.added + terms.subtracted) * (growth - 1);
    const Rational sum = terms.added - terms.subtracted;
    LaneRange range{bounded(sum - error), bounded(sum + error)};
    // A sum on the way may be infinite although the last is not: one of what is added alone, or of
    // what is subtracted alone; and NaN where two such sums meet.
    const Rational largest = largest_of(formats::f32).magnitude;
    const Value infinity{Value::Kind::infinity, false, 0};
    if (terms.added * growth > largest) range.high = infinity;
    if (terms.subtracted * growth > largest) range.low = negated(infinity);
    return range;
}

std::vector<LaneRange> rotated_ranges(const Quantizer& quantizer, std::span<const Value> lanes) {
    MX_ASSERT_COMPARE(lanes.size() % hadamard_size, ==, 0u);
    std::vector<LaneRange> ranges;
    for (std::size_t first = 0; first < lanes.size(); first += hadamard_size) {
        const auto group = lanes.subspan(first, hadamard_size);
        const bool is_open = quantizer.leaves_open(Decision::transform_order) &&
                             std::ranges::all_of(group, &Value::is_finite);
        if (is_open)
            for (int to = 0; to < hadamard_size; ++to) ranges.push_back(rotated_range(group, to));
        else
            for (const Value& lane : transformed(quantizer, group)) ranges.push_back({lane, lane});
    }
    return ranges;
}

AmaxRange amax_range(const Quantizer& quantizer, std::span<const LaneRange> ranges) {
    std::vector<Value> least, largest, with_nan;
    const Value nan{Value::Kind::nan, false, 0};
    for (const LaneRange& range : ranges) {
        const bool is_negative = range.high.negative;
        const Value &inner = is_negative ? range.high : range.low,
                    &outer = is_negative ? range.low : range.high;
        const bool is_left_out = outer.is_infinity() && !inner.is_infinity() &&
                                 quantizer.infinity_in_block == InfinityInBlock::own_lane_only;
        const bool reaches_zero = range.has_both_signs() || is_left_out;
        least.push_back(reaches_zero ? Value{} : inner);
        largest.push_back(counted(quantizer, range, outer));
        if (range.has_both_signs()) largest.push_back(counted(quantizer, range, range.low));
        with_nan.push_back(range.may_be_nan() ? nan : outer);
    }
    return {amax_of(quantizer, least), amax_of(quantizer, largest),
            amax_of(quantizer, with_nan).is_nan()};
}

}  // namespace mx::exact
