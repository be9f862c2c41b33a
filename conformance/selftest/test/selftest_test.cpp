// The self-test as a whole, on small casts of players: what must make it fail does.
#include "conformance/selftest/selftest.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "conformance/mutants/mutants.hpp"
#include "conformance/selftest/test/subject_under_test.hpp"

namespace mx::selftest {
namespace {

Settings smoke() {
    Settings settings;
    settings.level = "smoke";
    return settings;
}

Subjects cast(std::vector<Subject> bugs) {
    return {mutant("none"), failure(), std::move(bugs)};
}

std::vector<std::string> problems_with(const Subjects& subjects) {
    const auto table = run_selftest(subjects, smoke());
    EXPECT_TRUE(table.ok());
    return table.ok() ? table.value().problems : std::vector<std::string>{};
}

TEST(Selftest, PassesWithARealBug) {
    std::vector<std::string> steps;
    Settings settings = smoke();
    settings.progress = [&](const Step& step) {
        EXPECT_LE(step.done, step.total);
        steps.push_back(step.name);
    };
    const Subjects subjects{mutant("none"), mutant("canary"), {mutant("ties_up")}};
    const auto table = run_selftest(subjects, settings);
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_TRUE(table.value().problems.empty()) << table.value().problems[0];
    EXPECT_EQ(summary_line(table.value()),
              "killed 1 of 1 planted bugs; canary failed, clean base passed");
    EXPECT_EQ(table.value().rows[0].outcomes.size(), acceptance::rules().size());
    EXPECT_EQ(steps.front(), "the canary");
    EXPECT_EQ(steps.back(), "ties_up");
}

TEST(Selftest, FailsWhenABugSurvives) {
    const auto problems = problems_with(cast({mutant("ties_up"), sleeper()}));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 16), "sleeper survived");
}

TEST(Selftest, FailsWhenTheCanarySings) {
    Subjects subjects = cast({mutant("ties_up")});
    subjects.canary = mutant("none");
    const auto problems = problems_with(subjects);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 17), "none did not fail");
}

TEST(Selftest, FailsWhenTheBaseIsNotClean) {
    Subjects subjects = cast({mutant("ties_up")});
    subjects.base = mutant("minus_zero_lost");
    const auto problems = problems_with(subjects);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 28), "minus_zero_lost is not clean");
}

TEST(Selftest, APluginThatDoesNotOpenFailsItAndKillsNothing) {
    Subject broken = mutant("ties_up");
    broken.shows_on = "convert";  // so that the audit need not open it either
    broken.source.path = MX_MUTANT_DIRECTORY "/no_such_plugin.so";
    const auto table = run_selftest(cast({broken}), smoke());
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(summary_line(table.value()).substr(0, 13), "killed 0 of 1");
    ASSERT_EQ(table.value().problems.size(), 1u);
    EXPECT_EQ(table.value().problems[0].substr(0, 9), "ties_up: ");
}

TEST(Selftest, RefusesAnUnknownLevel) {
    Settings settings;
    settings.level = "slow";
    EXPECT_FALSE(run_selftest(cast({}), settings).ok());
}

TEST(FindSubjects, FindsEveryLineOfTheTable) {
    const auto subjects = find_subjects(MX_MUTANT_DIRECTORY);
    ASSERT_TRUE(subjects.ok()) << subjects.error().message;
    EXPECT_EQ(subjects.value().base.name, "none");
    EXPECT_EQ(subjects.value().canary.name, "canary");
    EXPECT_EQ(subjects.value().bugs.size(), mutants::table.size() - 2);
    for (const Subject& bug : subjects.value().bugs) EXPECT_FALSE(bug.shows_on.empty());
}

TEST(FindSubjects, NamesTheFolderThatIsMissing) {
    const auto subjects = find_subjects("/no/such/folder");
    ASSERT_FALSE(subjects.ok());
    EXPECT_EQ(subjects.error().message,
              "there is no folder of planted bugs at '/no/such/folder'");
}

TEST(FindSubjects, NamesThePluginThatIsMissing) {
    const auto folder = std::filesystem::temp_directory_path() /
                        ("mx_selftest_" + std::to_string(::testing::UnitTest::GetInstance()
                                                             ->random_seed()) +
                         "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "mutant_none.so") << "not empty";
    const auto subjects = find_subjects(folder.string());
    std::filesystem::remove_all(folder);
    ASSERT_FALSE(subjects.ok());
    EXPECT_EQ(subjects.error().message, "the planted bug mutant_canary.so is missing in '" +
                                            folder.string() + "'");
}

}  // namespace
}  // namespace mx::selftest
