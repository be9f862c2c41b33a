// Names of verdicts and which of them may pass. The list is typed from the contract, not from the
// code.
#include <gtest/gtest.h>

#include <string_view>

#include "conformance/results/record.hpp"

namespace mx::results {
namespace {

struct Row {
    std::string_view name;
    Verdict verdict;
    int may_pass;
};

constexpr Row rows[] = {
    {"pass_exact", Verdict::pass_exact, 1},
    {"pass_bounded", Verdict::pass_bounded, 1},
    {"deviation", Verdict::deviation, 1},
    {"not_supported", Verdict::not_supported, 1},
    {"waived", Verdict::waived, 1},
    {"insufficient_data", Verdict::insufficient_data, 0},
    {"flaky", Verdict::flaky, 0},
    {"fail", Verdict::fail, 0},
    {"oracle_disagreement", Verdict::oracle_disagreement, 0},
    {"device_error", Verdict::device_error, 0},
    {"crash", Verdict::crash, 0},
    {"timeout", Verdict::timeout, 0},
    {"untested", Verdict::untested, 0},
};

TEST(Record, EveryVerdictHasItsNameAndBack) {
    ASSERT_EQ(std::size(rows), static_cast<std::size_t>(verdict_count));
    for (const Row& row : rows) {
        EXPECT_EQ(name_of(row.verdict), row.name);
        Verdict verdict{};
        EXPECT_TRUE(verdict_from_name(row.name, verdict)) << row.name;
        EXPECT_EQ(verdict, row.verdict) << row.name;
    }
}

TEST(Record, OlderRecordsCallInsufficientDataMistrusted) {
    Verdict verdict{};
    EXPECT_TRUE(verdict_from_name("mistrusted", verdict));
    EXPECT_EQ(verdict, Verdict::insufficient_data);
    EXPECT_EQ(worth_of(verdict), Worth::refused) << "neither a pass nor a fault";
}

TEST(Record, OtherNamesAreNoVerdictAndLeaveTheValue) {
    for (const std::string_view name : {"", "pass", "FAIL", "fail ", "unknown"}) {
        Verdict verdict = Verdict::crash;
        EXPECT_FALSE(verdict_from_name(name, verdict)) << name;
        EXPECT_EQ(verdict, Verdict::crash) << name;
    }
}

TEST(Record, OnlyTheFirstFiveMayStandInAPassingRun) {
    for (const Row& row : rows) EXPECT_EQ(may_pass(row.verdict), row.may_pass == 1) << row.name;
}

TEST(Record, LevelsBelowFullAreNoConformanceRun) {
    EXPECT_TRUE(is_conformance_level("full"));
    EXPECT_TRUE(is_conformance_level("exhaustive"));
    EXPECT_FALSE(is_conformance_level("large"));
    for (const std::string_view level : {"", "smoke", "quick", "Full", "full2"})
        EXPECT_FALSE(is_conformance_level(level)) << level;
}

}  // namespace
}  // namespace mx::results
