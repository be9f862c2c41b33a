// The rules for GEMMs, on numbers worked out by hand.
#include "conformance/mutants/gemm_acceptance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mx::acceptance {
namespace {

using Values = std::vector<double>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(GemmAcceptance, Measures) {
    const Values x{3, 4}, y{4, 3};
    EXPECT_DOUBLE_EQ(cosine({x, y}), 24.0 / 25);
    EXPECT_DOUBLE_EQ(sqnr({x, y}), 10 * std::log10(12.5));
    EXPECT_NEAR(calc_diff({x, y}), 1.0 / 25, 1e-15);
    EXPECT_TRUE(std::isinf(sqnr({x, x})));
    EXPECT_DOUBLE_EQ(calc_diff({x, x}), 0);
}

TEST(GemmAcceptance, CloseIsAbsoluteAndRelative) {
    const Values x{0, 100};
    EXPECT_TRUE(is_close({x, Values{0.5, 100}}, {0.5, 0}));
    EXPECT_FALSE(is_close({x, Values{0.51, 100}}, {0.5, 0}));
    EXPECT_TRUE(is_close({x, Values{0, 101}}, {0, 0.01}));
    EXPECT_FALSE(is_close({x, Values{0, 101.1}}, {0, 0.01}));
    EXPECT_FALSE(is_close({x, Values{0, not_a_number}}, {1, 1}));
}

// A direction is not a size: the cosine of a product and twice that product is 1.
TEST(GemmAcceptance, EachRuleAcceptsTheRightProductAndRejectsAnother) {
    const Values right{1, -2, 3, 4};
    const Values other{-1, 2, 3, 4}, lost{1, -2, not_a_number, 4};
    for (const GemmRule& rule : gemm_rules()) {
        EXPECT_EQ(rule.judge({right, right}), Answer::accepts) << rule.name;
        EXPECT_EQ(rule.judge({right, other}), Answer::rejects) << rule.name;
        EXPECT_EQ(rule.judge({right, lost}), Answer::rejects) << rule.name;
        EXPECT_FALSE(rule.source.empty());
    }
    EXPECT_EQ(gemm_rules()[0].judge({right, Values{2, -4, 6, 8}}), Answer::accepts);
    EXPECT_EQ(gemm_rules().size(), 7u);
}

TEST(GemmAcceptance, ThresholdsAreTheirs) {
    // An error of e in each of two equal numbers: the noise is e^2 of the signal.
    const auto off_by = [](double e) { return Values{1 + e, 1 - e}; };
    const Values right{1, 1};
    const auto accepted = [&](double e) {
        int count = 0;
        for (const GemmRule& rule : gemm_rules())
            count += rule.judge({right, off_by(e)}) == Answer::accepts ? 1 : 0;
        return count;
    };
    EXPECT_EQ(accepted(9.9e-5), 7);
    EXPECT_EQ(accepted(1.1e-4), 6);  // below 80 dB
    EXPECT_EQ(accepted(0.0159), 6);
    EXPECT_EQ(accepted(0.0161), 5);  // beyond 8e-3 and 8e-3 of 1
    EXPECT_EQ(accepted(0.0450), 3);  // calc_diff and the cosine of 0.999
    EXPECT_EQ(accepted(0.0790), 3);
    EXPECT_EQ(accepted(0.0800), 2);  // below 22 dB
    EXPECT_EQ(accepted(0.1700), 1);  // beyond 8e-2 and 8e-2 of 1
    EXPECT_EQ(accepted(0.2100), 0);  // a cosine below 0.98
}

}  // namespace
}  // namespace mx::acceptance
