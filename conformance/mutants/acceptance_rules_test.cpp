// Each modelled rule must accept what its project accepts and reject what it rejects, on numbers
// worked out by hand. Where a rule is blind, the blindness is held here too: it is what we model.
#include "conformance/mutants/acceptance_rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mx::acceptance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// Owns what the spans of an Evidence look at. One block with the scale 2^0, elements as given.
struct Sample {
    std::vector<float> inputs;
    std::vector<double> expected, actual;
    std::vector<std::uint8_t> expected_codes, actual_codes;
    std::vector<std::uint8_t> expected_scales{127}, actual_scales{127};

    Evidence evidence() const {
        return {inputs,
                {expected_scales, expected_codes, expected, expected},
                {actual_scales, actual_codes, actual, actual}};
    }
};

// For the rules that look at inputs and values alone.
Sample values_for(std::vector<float> inputs, std::vector<double> actual) {
    const std::vector<std::uint8_t> codes(inputs.size(), 0);
    std::vector<double> expected(inputs.begin(), inputs.end());
    return {std::move(inputs), std::move(expected), std::move(actual), codes, codes};
}

// For the rule that looks at elements: one lane, decoded E4M3 values and their codes.
struct Lane {
    double value;
    std::uint8_t code;
};
Sample lane_of(Lane expected, Lane actual) {
    return {{0.0f}, {expected.value}, {actual.value}, {expected.code}, {actual.code}};
}

TEST(TransformerEngineRule, AcceptsEqualAndNeighbourCodesOnly) {
    const Lane sixteen{16, 0x58}, eighteen{18, 0x59}, twenty{20, 0x5A};
    EXPECT_EQ(transformer_engine(lane_of(sixteen, sixteen).evidence()), Answer::accepts);
    EXPECT_EQ(transformer_engine(lane_of(sixteen, eighteen).evidence()), Answer::accepts);
    EXPECT_EQ(transformer_engine(lane_of(eighteen, sixteen).evidence()), Answer::accepts);
    EXPECT_EQ(transformer_engine(lane_of(sixteen, twenty).evidence()), Answer::rejects);
    EXPECT_EQ(transformer_engine(lane_of(sixteen, {-16, 0xD8}).evidence()), Answer::rejects);
}

// E4M3 has no two values this close: the numbers are made up to hold the rule itself.
TEST(TransformerEngineRule, AllowsOnePercent) {
    const Lane hundred{100, 0x10};
    EXPECT_EQ(transformer_engine(lane_of(hundred, {100.9, 0x30}).evidence()), Answer::accepts);
    EXPECT_EQ(transformer_engine(lane_of(hundred, {101.1, 0x30}).evidence()), Answer::rejects);
}

TEST(TransformerEngineRule, CannotTellSmallSubnormalsOrZerosApart) {
    EXPECT_EQ(transformer_engine(lane_of({0, 0x00}, {0x1.4p-7, 0x05}).evidence()),
              Answer::accepts);  // 0.0098, five codes away, is within 1e-2
    EXPECT_EQ(transformer_engine(lane_of({0, 0x00}, {0x1.8p-7, 0x06}).evidence()),
              Answer::rejects);  // 0.0117 is not
    EXPECT_EQ(transformer_engine(lane_of({0, 0x00}, {-0.0, 0x80}).evidence()), Answer::accepts);
}

TEST(TransformerEngineRule, PassesNanOnEitherSideButNotInfinity) {
    const Lane one{1, 0x38}, nan_lane{nan_value, 0x7F};
    EXPECT_EQ(transformer_engine(lane_of(one, nan_lane).evidence()), Answer::accepts);
    EXPECT_EQ(transformer_engine(lane_of(nan_lane, one).evidence()), Answer::accepts);
    // E5M2: infinity is the code after 57344, and is no neighbour all the same.
    EXPECT_EQ(transformer_engine(lane_of({57344, 0x7B}, {infinity, 0x7C}).evidence()),
              Answer::rejects);
}

TEST(TransformerEngineRule, WantsScalesExact) {
    Sample sample = lane_of({1, 0x38}, {1, 0x38});
    sample.actual_scales = {128};
    EXPECT_EQ(transformer_engine(sample.evidence()), Answer::rejects);
    sample.actual_scales = {127, 127};
    EXPECT_EQ(transformer_engine(sample.evidence()), Answer::rejects);
}

TEST(TorchaoRule, WantsEighteenDecibels) {
    // 20 log10(1 / 0.125) = 18.06 and 20 log10(1 / 0.1262) = 17.98.
    EXPECT_EQ(torchao_sqnr(values_for({1, 1}, {1.125, 0.875}).evidence()), Answer::accepts);
    EXPECT_EQ(torchao_sqnr(values_for({1, 1}, {1.1262, 0.8738}).evidence()), Answer::rejects);
    EXPECT_EQ(torchao_sqnr(values_for({1, 2}, {1, 2}).evidence()), Answer::accepts);
}

TEST(TorchaoRule, TakesAnUndefinedRatioOnlyWhenAllIsZero) {
    EXPECT_EQ(torchao_sqnr(values_for({0, 0}, {0, -0.0}).evidence()), Answer::accepts);
    EXPECT_EQ(torchao_sqnr(values_for({0, 1}, {0, nan_value}).evidence()), Answer::rejects);
    EXPECT_EQ(torchao_sqnr(values_for({0, 0}, {0, 1}).evidence()), Answer::rejects);
}

TEST(FlashinferRule, LooksAtTheDirectionOnly) {
    EXPECT_EQ(flashinfer_cosine(values_for({1, 2, 3}, {2, 4, 6}).evidence()), Answer::accepts);
    EXPECT_EQ(flashinfer_cosine(values_for({1, 2, 3}, {-1, -2, -3}).evidence()), Answer::rejects);
    // cos(atan(0.2)) = 0.9806 and cos(atan(0.21)) = 0.9787.
    EXPECT_EQ(flashinfer_cosine(values_for({1, 0}, {1, 0.2}).evidence()), Answer::accepts);
    EXPECT_EQ(flashinfer_cosine(values_for({1, 0}, {1, 0.21}).evidence()), Answer::rejects);
    EXPECT_EQ(flashinfer_cosine(values_for({1, 0}, {1, nan_value}).evidence()), Answer::rejects);
    EXPECT_EQ(flashinfer_cosine(values_for({1, 0}, {infinity, 0}).evidence()), Answer::rejects);
    EXPECT_EQ(flashinfer_cosine(values_for({0, 0}, {0, 0}).evidence()), Answer::rejects);
}

TEST(UniversalRule, AllowsAnErrorOfOneAndAnyNan) {
    EXPECT_EQ(universal_max_error(values_for({0, 7.75f}, {1, 6.75}).evidence()), Answer::accepts);
    EXPECT_EQ(universal_max_error(values_for({0, 7.75f}, {0, 6.7}).evidence()), Answer::rejects);
    EXPECT_EQ(universal_max_error(values_for({0, 1}, {nan_value, 1}).evidence()), Answer::accepts);
}

TEST(Rules, AreListedWithTheirSources) {
    ASSERT_EQ(rules().size(), 4u);
    const Sample exact = values_for({1, 2}, {1, 2});
    for (const Rule& rule : rules()) {
        EXPECT_NE(rule.source.find(':'), std::string_view::npos) << rule.name;
        EXPECT_EQ(rule.judge(exact.evidence()), Answer::accepts) << rule.name;
    }
}

}  // namespace
}  // namespace mx::acceptance
