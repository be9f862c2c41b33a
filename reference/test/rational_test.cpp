// The fractions of the exact oracle against two integers each, multiplied crosswise.
#include "reference/exact/rational.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace mx::exact {
namespace {

// above / below in any terms; below is not 0.
struct Quotient {
    Integer above, below;
};

struct Pair {
    Rational ours;
    Quotient plain;
};

void expect_same(const Rational& ours, const Integer& above, const Integer& below) {
    EXPECT_EQ(Integer(numerator(ours) * below), Integer(above * denominator(ours)));
    EXPECT_GT(denominator(ours), 0);
    EXPECT_EQ(Integer(gcd(numerator(ours), denominator(ours))), 1);
}

// Quotients of small integers of both signs, given in all their terms; and a few, also divided by
// three, times powers of two far apart.
std::vector<Pair> pairs() {
    std::vector<Pair> all;
    for (int above = -13; above <= 13; ++above)
        for (const int below : {1, 2, 3, 4, 6, 7, 8, 12, 15, -1, -6})
            all.push_back({Rational(above, below), {above, below}});
    for (const int exponent : {-1100, -149, -64, -63, 24, 127, 1100})
        for (const int units : {-3, 1, 6, 255}) {
            Integer power = 1;
            for (int doubled = std::abs(exponent); doubled > 0; --doubled) power *= 2;
            const Integer above = exponent < 0 ? Integer(units) : Integer(units * power);
            const Integer below = exponent < 0 ? power : Integer(1);
            all.push_back({times_power_of_two(units, exponent), {above, below}});
            all.push_back({times_power_of_two(units, exponent) / 3, {above, below * 3}});
        }
    return all;
}

TEST(Rational, IsInLowestTerms) {
    for (const auto& [ours, plain] : pairs()) {
        const auto& [above, below] = plain;
        expect_same(ours, above, below);
        expect_same(-ours, -above, below);
        expect_same(abs(ours), abs(above), abs(below));
        EXPECT_EQ(whole_part(ours), Integer(above / below));
    }
}

TEST(Rational, CountsAndComparesAsIntegersDo) {
    const std::vector<Pair> all = pairs();
    for (const auto& [left, a] : all)
        for (const auto& [right, b] : all) {
            const Integer below = a.below * b.below;
            const Integer from_left = a.above * b.below, from_right = b.above * a.below;
            expect_same(left + right, from_left + from_right, below);
            expect_same(left - right, from_left - from_right, below);
            expect_same(left * right, a.above * b.above, below);
            if (b.above != 0) expect_same(left / right, from_left, from_right);
            const int order =
                below > 0 ? from_left.compare(from_right) : from_right.compare(from_left);
            EXPECT_EQ(left == right, order == 0);
            EXPECT_EQ(left < right, order < 0);
            EXPECT_EQ(left > right, order > 0);
        }
}

TEST(Rational, FloorOfLogarithm) {
    for (const auto& [ours, plain] : pairs()) {
        if (ours <= 0) continue;
        const int exponent = floor_log2(ours);
        EXPECT_LE(power_of_two(exponent), ours);
        EXPECT_LT(ours, power_of_two(exponent + 1));
    }
}

}  // namespace
}  // namespace mx::exact
