// Trials of single devices: what counts as a kill, what as clean, and that neither can be had by
// doing nothing.
#include "conformance/selftest/trial.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "conformance/run/judge.hpp"
#include "conformance/selftest/oracle_device.hpp"
#include "conformance/selftest/test/subject_under_test.hpp"

namespace mx::selftest {

Subject shirker() {
    static mx_device_api api = *oracle_device_api();
    api.supports = [](void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
                      std::size_t, mx_message*) { return MX_NOT_SUPPORTED; };
    return {
        "shirker",
        "",
        "",
        {.name = "shirker", .get_api = [](std::uint32_t) -> const mx_device_api* { return &api; }}};
}

Subject failure() {
    static mx_device_api api = *oracle_device_api();
    api.run = [](void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
                 std::size_t, mx_message*) { return MX_FAILED; };
    return {
        "failure",
        "",
        "",
        {.name = "failure", .get_api = [](std::uint32_t) -> const mx_device_api* { return &api; }}};
}

Subject absentee() {
    static mx_device_api api = *oracle_device_api();
    api.open = [](void**, mx_message* message) {
        std::snprintf(message->text, message->capacity, "no GPU here");
        return MX_NOT_SUPPORTED;
    };
    return {"absentee", "", "", {.name = "absentee", .get_api = [](std::uint32_t) {
                                     return static_cast<const mx_device_api*>(&api);
                                 }}};
}

Subject invalid() {
    static mx_device_api api = *oracle_device_api();
    api.open = [](void**, mx_message* message) {
        std::snprintf(message->text, message->capacity, "the GPU is broken");
        return MX_FAILED;
    };
    return {"invalid", "", "", {.name = "invalid", .get_api = [](std::uint32_t) {
                                    return static_cast<const mx_device_api*>(&api);
                                }}};
}

namespace {

using results::Verdict;

class Trial : public ::testing::Test {
protected:
    std::vector<LevelCases> smoke() {
        return plan_by_level({"smoke", bug_dialects()}, sources).value();
    }
    Court court() { return {sources}; }
    Sources sources;
};

TEST_F(Trial, LevelsDoNotRepeatEachOtherAndStartSmall) {
    const auto plan = plan_by_level({"quick", {"nv"}}, sources);
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan.value().size(), 2u);
    EXPECT_EQ(plan.value()[0].level, "smoke");
    std::set<std::string> seen;
    for (const LevelCases& level : plan.value()) {
        ASSERT_FALSE(level.cases.empty());
        std::map<std::string, std::int64_t>
            last;  // of cases that differ in format, type and shape alone
        for (const PlannedCase& planned : level.cases) {
            const Case& c = planned.c;
            Case kind = c;
            if (kind.format != nullptr) kind.format = &mx_block_formats[0];
            kind.type = formats::f32;
            kind.rows = kind.columns = 0;
            kind.index = kind.seed = 0;
            if (kind.rules) kind.rules->overflow = Overflow::saturate;
            std::int64_t& before = last[print(kind)];
            EXPECT_EQ(dialect_name(planned.c), "nv");
            EXPECT_TRUE(seen.insert(print(planned.c)).second) << print(planned.c);
            EXPECT_LE(before, element_count(c));
            before = element_count(c);
        }
    }
    const auto unknown = plan_by_level({"slow", {}}, sources);
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().message, "unknown level 'slow'");
}

TEST(Verdicts, OnlyTheDevicesOwnDoingKills) {
    for (const Verdict verdict :
         {Verdict::fail, Verdict::flaky, Verdict::crash, Verdict::timeout, Verdict::device_error})
        EXPECT_TRUE(blames_device(verdict)) << results::name_of(verdict);
    for (const Verdict verdict :
         {Verdict::pass_exact, Verdict::pass_bounded, Verdict::deviation, Verdict::not_supported,
          Verdict::waived, Verdict::insufficient_data, Verdict::oracle_disagreement,
          Verdict::untested})
        EXPECT_FALSE(blames_device(verdict)) << results::name_of(verdict);
}

TEST_F(Trial, AHuntEndsAtTheFirstKill) {
    const auto found = hunt(mutant("ties_away"), smoke(), court());
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_TRUE(found.value().kill.has_value());
    EXPECT_EQ(found.value().kill->level, "smoke");
    EXPECT_EQ(found.value().kill->verdict, "fail");
    EXPECT_NE(found.value().kill->mismatch_class, "");
    EXPECT_TRUE(parse_case(found.value().kill->case_text).ok());
    EXPECT_LT(found.value().cases, smoke()[0].cases.size());
}

TEST_F(Trial, ACauseIsNamedWhereOneIsAskedFor) {
    const auto plan = smoke();
    EXPECT_FALSE(hunt(mutant("ties_away"), plan, court()).value().cause);
    const auto asked = hunt(mutant("ties_away"), plan, {.sources = sources, .names_causes = true});
    ASSERT_TRUE(asked.value().cause);
    EXPECT_FALSE(asked.value().cause->kinds.empty());
}

TEST_F(Trial, ACrashKills) {
    const auto found = hunt(mutant("crash_on_nan"), smoke(), court());
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_TRUE(found.value().kill.has_value());
    EXPECT_EQ(found.value().kill->verdict, "crash");
    EXPECT_EQ(found.value().kill->mismatch_class, "");
}

TEST_F(Trial, ASleeperSurvivesEveryCase) {
    const auto found = hunt(sleeper(), smoke(), court());
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(found.value().kill.has_value());
    EXPECT_EQ(found.value().cases, smoke()[0].cases.size());
}

TEST_F(Trial, APluginThatDoesNotOpenIsNoKill) {
    Subject missing = mutant("ties_away");
    missing.source.path += ".nowhere";
    const auto found = hunt(missing, smoke(), court());
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().message.substr(0, 11), "ties_away: ");
}

TEST_F(Trial, OnlyADeviceThatSaysSoIsAbsent) {
    EXPECT_EQ(absence_of(absentee(), court()), "no GPU here");
    EXPECT_EQ(absence_of(invalid(), court()), "");
    EXPECT_EQ(absence_of(mutant("none"), court()), "");
    Subject missing = mutant("none");
    missing.source.path += ".nowhere";
    EXPECT_EQ(absence_of(missing, court()), "");
}

TEST_F(Trial, TheBaseIsCleanAndABugIsNot) {
    const CleanCheck clean = check_clean(mutant("none"), smoke(), court());
    EXPECT_EQ(clean.complaint, "");
    EXPECT_EQ(clean.cases, smoke()[0].cases.size());
    EXPECT_GT(clean.elements, 0u);
    EXPECT_GT(clean.scales, 0u);
    const CleanCheck bug = check_clean(mutant("ties_up"), smoke(), court());
    EXPECT_EQ(bug.complaint.substr(0, 28), "ties_up is not clean: fail (");
}

// A deviation, where the standard leaves the answer open, is no failure; but the base has none.
TEST_F(Trial, ADeviationIsNotClean) {
    auto ocp = plan_by_level({"smoke", {"ocp"}}, sources).value();
    const CleanCheck check = check_clean(mutant("nan_sign_kept"), ocp, court());
    EXPECT_NE(check.complaint.find("deviation"), std::string::npos) << check.complaint;
}

TEST_F(Trial, NobodyIsCleanByRefusingOrWithoutAQuestion) {
    EXPECT_EQ(check_clean(shirker(), smoke(), court()).complaint.substr(0, 35),
              "shirker is not clean: not_supported");
    EXPECT_EQ(check_clean(mutant("none"), {}, court()).complaint, "none was asked nothing");
}

TEST_F(Trial, TheCanaryFailsEverywhere) {
    const CanaryCheck canary = check_canary(mutant("canary"), smoke()[0], court());
    EXPECT_EQ(canary.complaint, "");
    EXPECT_EQ(canary.failed, check_clean(mutant("none"), smoke(), court()).cases);
    EXPECT_EQ(check_canary(mutant("none"), smoke()[0], court()).complaint.substr(0, 32),
              "none did not fail: pass_exact, i");
    EXPECT_NE(check_canary(mutant("ties_up"), smoke()[0], court()).complaint, "");
    EXPECT_EQ(check_canary(shirker(), smoke()[0], court()).complaint,
              "shirker supported no case at all");
}

TEST_F(Trial, TheOracleAsADeviceIsCleanInEveryDialect) {
    const Subject oracle{"oracle", "", "", {.name = "oracle", .get_api = [](std::uint32_t) {
                                                return oracle_device_api();
                                            }}};
    const auto plan = plan_by_level({"smoke", known_dialects()}, sources).value();
    const CleanCheck check = check_clean(oracle, plan, court());
    EXPECT_EQ(check.complaint, "");
    EXPECT_EQ(check.cases, plan[0].cases.size());
}

}  // namespace
}  // namespace mx::selftest
