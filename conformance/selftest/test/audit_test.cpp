// The audit: the data are what they say, and rules kill where they can and only there.
#include "conformance/selftest/audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/mutants/mutants.hpp"
#include "conformance/selftest/test/subject_under_test.hpp"

namespace mx::selftest {
namespace {

const Setting setting{find_block_format("mxfp8-e4m3"), find_quantizer("nv"), BlockAxis::row};

TEST(AuditData, UniformStaysInItsRangeAndFillsIt) {
    const Sample sample = draw(Population::uniform, setting, {64, 64});
    ASSERT_EQ(sample.floats.size(), 4096u);
    for (const float value : sample.floats) EXPECT_TRUE(value >= -2.0f && value < 1.0f) << value;
    // Thirty bins over the range; each would be empty once in 10^60 samples.
    std::set<int> bins;
    for (const float value : sample.floats) bins.insert(static_cast<int>((value + 2.0f) * 10.0f));
    EXPECT_EQ(bins.size(), 30u);
}

TEST(AuditData, NormalIsBfloat16WithVarianceOne) {
    const Sample sample = draw(Population::normal, setting, {64, 64});
    EXPECT_EQ(sample.inputs[0].type, "bf16");
    double sum = 0, squares = 0;
    for (const float value : sample.floats) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double count = static_cast<double>(sample.floats.size());
    // Five standard errors of the mean, and of the variance of a normal variable.
    EXPECT_LT(std::fabs(sum / count), 5 / std::sqrt(count));
    EXPECT_LT(std::fabs(squares / count - 1), 5 * std::sqrt(2 / count));
}

TEST(AuditData, RampAndItsNumbers) {
    const Sample sample = draw(Population::ramp, setting, {1, 32});
    EXPECT_EQ(sample.floats[0], 0.0f);
    EXPECT_EQ(sample.floats[1], 0.25f);
    EXPECT_EQ(sample.floats[31], 7.75f);
    // nv: 7.75 / 448 lies between 2^-6 and 2^-5, so the scale is 2^-5; 0.25 is the element 8.
    ASSERT_EQ(sample.expected.scales.size(), 1u);
    EXPECT_EQ(sample.expected.scales[0], 127 - 5);
    EXPECT_EQ(sample.expected.codes[1], 0x50);
    EXPECT_EQ(sample.expected.elements[1], 8.0);
    EXPECT_EQ(sample.expected.values[1], 0.25);
}

TEST(AuditData, ColumnsHaveTheirOwnScales) {
    const Sample sample =
        draw(Population::ramp, {setting.format, find_quantizer("ocp"), BlockAxis::col}, {2, 2});
    ASSERT_EQ(sample.expected.scales.size(), 2u);  // of {0, 1/2} and of {1/4, 3/4}
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(sample.expected.values[i], static_cast<double>(sample.floats[i]));
}

TEST(AuditData, AnEdgeFamilyIsOneRowABlock) {
    Sources sources;
    const auto sample = edge_blocks("edge.special", setting, sources);
    ASSERT_TRUE(sample.ok()) << sample.error().message;
    EXPECT_EQ(sample.value().c.columns, 32);
    EXPECT_EQ(sample.value().floats.size(), sample.value().expected.scales.size() * 32);
    EXPECT_TRUE(
        std::ranges::any_of(sample.value().floats, [](float value) { return std::isnan(value); }));
    EXPECT_FALSE(edge_blocks("edge.none", setting, sources).ok());
}

class RulesInUse : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        Sources sources;
        audit = new Audit(Audit::prepare(sources).value());
    }
    static void TearDownTestSuite() { delete audit; }
    static std::vector<Outcome> judge(const std::string& name) {
        const auto outcomes = audit->judge(mutant(name), Limits());
        EXPECT_TRUE(outcomes.ok());
        return outcomes.ok() ? outcomes.value() : std::vector<Outcome>{};
    }
    static std::vector<Outcome> all(Outcome outcome) {
        return std::vector<Outcome>(acceptance::rules().size(), outcome);
    }
    static const Audit* audit;
};
const Audit* RulesInUse::audit = nullptr;

TEST_F(RulesInUse, AcceptTheCleanBase) {
    EXPECT_EQ(judge("none"), all(Outcome::missed));
}

TEST_F(RulesInUse, RejectTheCanaryOnTheirOwnData) {
    EXPECT_EQ(judge("canary"), all(Outcome::killed));
}

// What the neighbour-code allowance of the first rule lets pass, and thresholds all the more.
TEST_F(RulesInUse, MissTiesTheWrongWay) {
    EXPECT_EQ(judge("ties_away"), all(Outcome::missed));
}

TEST_F(RulesInUse, MissWhatIsNotInTheOutputs) {
    EXPECT_EQ(judge("input_modified"), all(Outcome::missed));
    EXPECT_EQ(judge("scale_overwrites_red_zone"), all(Outcome::missed));
}

TEST_F(RulesInUse, SeeACrashOnlyWhereTheDataHoldANan) {
    EXPECT_EQ(judge("crash_on_nan"), all(Outcome::killed_on_edges));
}

// The first rule wants equal scales; the others never look at one.
TEST_F(RulesInUse, ScalesCountForOneRuleOnly) {
    const auto outcomes = judge("scale_plus_one");
    EXPECT_EQ(outcomes[0], Outcome::killed);
    EXPECT_EQ(outcomes[1], Outcome::missed);
    EXPECT_EQ(outcomes[2], Outcome::missed);
}

TEST_F(RulesInUse, ABugOfAnotherOperationIsNotAsked) {
    Subject bug = mutant("e4m3_nan_as_480");
    bug.shows_on = "dequantize e4m3: code 0x7F";
    EXPECT_EQ(audit->judge(bug, Limits()).value(), all(Outcome::not_asked));
}

TEST_F(RulesInUse, APluginThatDoesNotOpenIsAnError) {
    Subject bug = mutant("ties_away");
    bug.source.path += ".nowhere";
    EXPECT_FALSE(audit->judge(bug, Limits()).ok());
}

TEST(PlantedBugs, OnlyThoseOfDenseMxfp8BlocksAreAskedAbout) {
    std::set<std::string_view> asked, others;
    for (const mutants::Mutant& row : mutants::table) {
        const Subject bug{std::string(row.name), "", std::string(row.shows_on), {}};
        (concerns_mxfp8_blocks(bug) ? asked : others).insert(row.name);
    }
    for (const char* name : {"ties_up", "nan_spreads_in_columns", "log2_cut_toward_zero",
                             "partial_block_padding_read", "hang_on_zero_block"})
        EXPECT_TRUE(asked.contains(name)) << name;
    for (const char* name :
         {"convert_always_saturates", "e5m2_inf_to_nan", "cast_never_up", "fp6_subnormals_lost",
          "fp4_ties_away", "int8_wraps", "f16_subnormals_lost", "input_taken_for_dense",
          "rows_beyond_65535_unwritten", "block_16_as_32", "tile_scale_of_first_row",
          "nibbles_exchanged", "te_rows_not_padded"})
        EXPECT_TRUE(others.contains(name)) << name;
    // Which bugs are asked about hangs on how shows_on begins: a reworded line must not move one.
    EXPECT_EQ(asked.size(), 45u);
    EXPECT_EQ(asked.size() + others.size(), mutants::table.size());
}

}  // namespace
}  // namespace mx::selftest
