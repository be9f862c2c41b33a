// Every order in which a matrix unit may add a rotated lane, tried: what comes of it lies in the
// range that the exact oracle gives, and does not in one that counts too few roundings.
#include "reference/exact/rotated_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::exact {
namespace {

using Lanes = std::vector<Value>;

const Quantizer& row() {
    return *find_quantizer("te-nvfp4-rht");
}

Value bf16(std::uint32_t code) {
    return decode(formats::bf16, Code{code});
}

// A lane that output `to` adds, or subtracts where it is below zero.
void put(Lanes& lanes, int from, int to, Value term) {
    term.negative = term.negative != hadamard_subtracts(from, to);
    lanes[static_cast<std::size_t>(from)] = term;
}

// What the output adds: quarters, zeros left out.
std::vector<Value> terms_of(const Lanes& lanes, int to) {
    std::vector<Value> terms;
    for (int from = 0; from < hadamard_size; ++from) {
        Value term = lanes[static_cast<std::size_t>(from)];
        term.negative = term.negative != hadamard_subtracts(from, to);
        term.magnitude = term.magnitude / 4;
        if (!is_zero(term)) terms.push_back(term);
    }
    return terms;
}

// Beyond the range a sum is Inf, whatever the direction.
Value added(const Value& left, const Value& right, Rounding rounding) {
    const Value sum = plus(left, right);
    if (sum.is_finite() && sum.magnitude > largest_of(formats::f32).magnitude)
        return {Value::Kind::infinity, sum.negative, 0};
    return decode(formats::f32, round(formats::f32, rounding, Overflow::overflow, sum));
}

// The codes of binary32 that the sums of these terms come to over every tree of additions, each
// rounded up or down. A set of terms is a number with a bit for each.
class EveryOrder {
public:
    explicit EveryOrder(const std::vector<Value>& terms) : terms_(terms) {}

    const std::set<std::uint32_t>& sums() { return sums_of((1u << terms_.size()) - 1); }

private:
    const std::set<std::uint32_t>& sums_of(unsigned all) {
        std::set<std::uint32_t>& sums = known_[all];
        if (!sums.empty()) return sums;
        if (std::has_single_bit(all)) {
            const auto term = static_cast<std::size_t>(std::countr_zero(all));
            sums.insert(
                round(formats::f32, Rounding::nearest_even, Overflow::overflow, terms_[term]).bits);
            return sums;
        }
        for (unsigned left = (all - 1) & all; left > (all ^ left); left = (left - 1) & all)
            for (const std::uint32_t a : sums_of(left))
                for (const std::uint32_t b : sums_of(all ^ left)) add(a, b, sums);
        return sums;
    }

    static void add(std::uint32_t a, std::uint32_t b, std::set<std::uint32_t>& sums) {
        const Value left = f32_of_code(a), right = f32_of_code(b);
        for (const Rounding rounding : {Rounding::toward_negative, Rounding::toward_positive})
            sums.insert(
                round(formats::f32, rounding, Overflow::overflow, added(left, right, rounding))
                    .bits);
    }

    const std::vector<Value>& terms_;
    std::map<unsigned, std::set<std::uint32_t>> known_;
};

// In bfloat16, as the units write it.
std::vector<Value> outcomes(const Lanes& lanes, int to) {
    const std::vector<Value> terms = terms_of(lanes, to);
    EveryOrder order(terms);
    std::vector<Value> all;
    for (const std::uint32_t code : order.sums())
        all.push_back(rounded_in(formats::bf16, f32_of_code(code)));
    return all;
}

// Numbers in the order of the values.
Rational place(const Value& value) {
    const Rational magnitude = value.is_infinity() ? power_of_two(200) : value.magnitude;
    return value.negative ? Rational(-magnitude) : magnitude;
}

bool holds(const LaneRange& range, const Value& value) {
    if (value.is_nan()) return range.may_be_nan();
    return place(range.low) <= place(value) && place(value) <= place(range.high);
}

bool is_reached(const Value& end, const std::vector<Value>& all) {
    return std::ranges::any_of(
        all, [&](const Value& value) { return !value.is_nan() && place(value) == place(end); });
}

class Random {
public:
    std::uint32_t below(std::uint32_t limit) {
        state_ = state_ * 1664525 + 1013904223;
        return (state_ >> 8) % limit;
    }

private:
    std::uint32_t state_ = 1;
};

// A number, half a step of bfloat16 above it, and three that are some ulps of the sum in binary32,
// or far below.
Lanes lanes_near_a_tie(Random& random, int to) {
    Lanes lanes(hadamard_size);
    const std::uint32_t one = 0x3F80, half_step = 0x3B80;
    std::uint32_t codes[] = {one + random.below(128), half_step, 0, 0, 0};
    for (int i = 2; i < 5; ++i)
        codes[i] = 0x3200 + random.below(0x300) + (random.below(2) == 0 ? 0 : 0x8000);
    std::array<int, hadamard_size> places{};
    for (int i = 0; i < hadamard_size; ++i) places[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = 0; i < std::size(codes); ++i) {
        std::swap(places[i], places[i + random.below(static_cast<std::uint32_t>(16 - i))]);
        put(lanes, places[i], to, bf16(codes[i]));
    }
    return lanes;
}

// Five lanes are four sums: the range of four roundings holds them all, and both its ends are
// reached in many draws; that of sixteen, which is judged by, is as wide or wider.
TEST(RotatedRange, EveryOrderOfFiveLanesLiesInItAndReachesItsEnds) {
    constexpr int draws = 200, sums = 4;
    Random random;
    int reached = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const int to = draw % hadamard_size;
        const Lanes lanes = lanes_near_a_tie(random, to);
        const LaneRange range = rotated_range(lanes, to, sums), judged = rotated_range(lanes, to);
        EXPECT_TRUE(holds(judged, range.low) && holds(judged, range.high));
        const std::vector<Value> all = outcomes(lanes, to);
        for (const Value& value : all)
            EXPECT_TRUE(holds(range, value))
                << to_text(value) << " of " << to_text(range.low) << " to " << to_text(range.high);
        const bool is_open = place(range.low) != place(range.high);
        reached += is_open && is_reached(range.low, all) && is_reached(range.high, all) ? 1 : 0;
    }
    EXPECT_GT(reached, draws / 4);
}

// 1 + 2^-8 is half way between two bfloat16 numbers. Twelve ulps of binary32 below it, thirteen
// lanes far below an ulp, each rounded up, cross it.
TEST(RotatedRange, OneThatCountsTooFewRoundingsLeavesAnOrderOut) {
    constexpr int to = 5;
    Lanes lanes(hadamard_size);
    put(lanes, 0, to, bf16(0x3F80));
    put(lanes, 1, to, bf16(0x3B80));
    put(lanes, 2, to, bf16(0xB5C0));  // -12 * 2^-23
    for (int from = 3; from < hadamard_size; ++from) put(lanes, from, to, bf16(0x2000));
    Value sum;
    for (const Value& term : terms_of(lanes, to)) sum = added(sum, term, Rounding::toward_positive);
    const Value outcome = rounded_in(formats::bf16, sum);
    EXPECT_TRUE(holds(rotated_range(lanes, to), outcome));
    EXPECT_FALSE(holds(rotated_range(lanes, to, 11), outcome));
    EXPECT_EQ(place(rotated_range(lanes, to).high), place(outcome));
}

// All of one size, so that every sum has few digits; but five quarters of the largest number are no
// number of binary32, and four are.
TEST(RotatedRange, SumsOfFewDigitsMayOverflowOnTheWay) {
    Lanes lanes(hadamard_size);
    const Value largest = largest_of(formats::bf16);
    for (int from = 0; from < 5; ++from) put(lanes, from, 0, largest);
    put(lanes, 5, 0, negated(largest));
    const std::vector<Value> all = outcomes(lanes, 0);
    const LaneRange range = rotated_range(lanes, 0);
    for (const Value& value : all) EXPECT_TRUE(holds(range, value)) << to_text(value);
    EXPECT_TRUE(range.high.is_infinity());
    EXPECT_TRUE(is_reached(range.high, all));
    EXPECT_TRUE(is_reached(largest, all));
    EXPECT_EQ(place(range.low), place(largest));
    for (int from = 6; from < 10; ++from) put(lanes, from, 0, negated(largest));
    EXPECT_TRUE(rotated_range(lanes, 0).may_be_nan());
}

// The matrix holds quarters: nothing that a source does makes Inf of twice the largest number.
TEST(RotatedRange, ALaneIsAQuarterBeforeItIsAdded) {
    Lanes lanes(hadamard_size);
    const Value largest = largest_of(formats::bf16);
    put(lanes, 0, 0, largest);
    put(lanes, 1, 0, largest);
    const LaneRange range = rotated_range(lanes, 0);
    EXPECT_EQ(place(range.low), largest.magnitude / 2);
    EXPECT_EQ(place(range.high), largest.magnitude / 2);
}

TEST(RotatedRange, TheAmaxOfEveryOrderLiesInItsOwn) {
    Random random;
    for (int draw = 0; draw < 50; ++draw) {
        const Lanes lanes = lanes_near_a_tie(random, draw % hadamard_size);
        const AmaxRange range = amax_range(row(), rotated_ranges(row(), lanes));
        EXPECT_FALSE(range.may_be_nan);
        for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero,
                                        Rounding::toward_positive, Rounding::toward_negative}) {
            std::vector<Value> rotated;
            for (int to = 0; to < hadamard_size; ++to) {
                Value sum;
                for (const Value& term : terms_of(lanes, to)) sum = added(sum, term, rounding);
                rotated.push_back(rounded_in(formats::bf16, sum));
            }
            EXPECT_TRUE(holds({range.least, range.largest}, amax_of(row(), rotated)));
        }
    }
}

TEST(RotatedRange, OneNanSpoilsAllSixteen) {
    Lanes lanes(hadamard_size);
    lanes[3] = bf16(0x7FC0);
    for (const LaneRange& range : rotated_ranges(row(), lanes)) EXPECT_TRUE(range.low.is_nan());
}

}  // namespace
}  // namespace mx::exact
