// What a run comes to where a case could not judge.
#include "conformance/session/outcome.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace mx::session {
namespace {

using results::Verdict;

Outcome outcome_with(std::initializer_list<Verdict> verdicts) {
    std::vector<results::CaseResult> cases;
    for (const Verdict verdict : verdicts) {
        cases.emplace_back().verdict = verdict;
        cases.back().elements = 32;
    }
    return outcome_of(cases, true);
}

TEST(Outcome, InsufficientDataIsIncompleteAndNoFault) {
    EXPECT_EQ(number_of(Outcome::incomplete), 4);
    EXPECT_EQ(outcome_with({Verdict::pass_exact}), Outcome::conformant);
    EXPECT_EQ(outcome_with({Verdict::insufficient_data}), Outcome::incomplete);
    EXPECT_EQ(outcome_with({Verdict::pass_exact, Verdict::insufficient_data}), Outcome::incomplete);
    EXPECT_EQ(outcome_with({Verdict::insufficient_data, Verdict::fail}), Outcome::mismatch);
    EXPECT_EQ(outcome_with({Verdict::insufficient_data, Verdict::crash}), Outcome::device_fault);
}

}  // namespace
}  // namespace mx::session
