// Tests of work in other processes: what comes back whole, and a process that is ended.
#include "conformance/selftest/tasks.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace mx::selftest {
namespace {

// Every field another than it is where nothing was found.
TEST(Tasks, AFindingComesBackWhole) {
    Finding sent;
    sent.hunt.cases = 7;
    sent.hunt.kill = Kill{"quick", "nvfp4", "fail", "rounding", "quantize ...", "a \"reason\""};
    sent.hunt.cause = cause::Cause{"Every tie goes up.", {"a", "b | c"}};
    sent.outcomes = {Outcome::missed, Outcome::killed_on_edges, Outcome::not_asked};
    sent.fault = "a fault\nin two lines";
    sent.clean = {1, 2, std::uint64_t{1} << 63, "not clean"};
    sent.canary = {5, "it sang"};
    const std::string line = line_of(sent);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto got = finding_of(line);
    ASSERT_TRUE(got.ok()) << got.error().message;
    const Finding& finding = got.value();
    EXPECT_EQ(finding.hunt.cases, 7u);
    ASSERT_TRUE(finding.hunt.kill && finding.hunt.cause);
    const Kill& kill = *finding.hunt.kill;
    EXPECT_EQ((std::vector{kill.level, kill.suite, kill.verdict, kill.mismatch_class,
                           kill.case_text, kill.reason}),
              (std::vector<std::string>{"quick", "nvfp4", "fail", "rounding", "quantize ...",
                                        "a \"reason\""}));
    EXPECT_EQ(finding.hunt.cause->sentence, "Every tie goes up.");
    EXPECT_EQ(finding.hunt.cause->kinds, (std::vector<std::string>{"a", "b | c"}));
    EXPECT_EQ(finding.outcomes, sent.outcomes);
    EXPECT_EQ(finding.fault, sent.fault);
    EXPECT_EQ(finding.clean.cases, 1u);
    EXPECT_EQ(finding.clean.elements, 2u);
    EXPECT_EQ(finding.clean.scales, std::uint64_t{1} << 63);
    EXPECT_EQ(finding.clean.complaint, "not clean");
    EXPECT_EQ(finding.canary.failed, 5u);
    EXPECT_EQ(finding.canary.complaint, "it sang");
    // What was not found is not made up.
    const Finding empty = finding_of(line_of({})).value();
    EXPECT_FALSE(empty.hunt.kill || empty.hunt.cause);
}

TEST(Tasks, AFindingThatIsNoneIsRefused) {
    for (const std::string line : {"", "[]", "{}", "{\"hunt\": 3}"})
        EXPECT_FALSE(finding_of(line).ok()) << line;
    std::string misspelt = line_of({});
    misspelt.replace(misspelt.find("fault"), 5, "folly");
    EXPECT_FALSE(finding_of(misspelt).ok());
}

TEST(Tasks, AProcessThatIsEndedIsToldWithWhatItDid) {
    std::size_t taken = 0;
    const auto take = [&taken](const Finding&) { ++taken; };
    const std::vector<Task> tasks{
        {"the first", 1, [] { return Finding{}; }, take},
        {"the second", 1, []() -> Finding { return ::raise(SIGKILL), Finding{}; }, take}};
    const auto nothing = [](const Task&) {};
    const Status ran = run_tasks(tasks, 2, nothing, nothing);
    ASSERT_FALSE(ran.ok());
    EXPECT_EQ(ran.error().message,
              "a process of the self-test was ended from outside, at the second");
    EXPECT_EQ(taken, 1u);
}

}  // namespace
}  // namespace mx::selftest
