// Records that say two things at once are refused, by the line; those of every verdict are read.
#include "conformance/results/contradiction.hpp"

#include <gtest/gtest.h>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/results/test/sample_run.hpp"

namespace mx::results::test {
namespace {

Run run_of(std::initializer_list<Verdict> verdicts, int exit_code) {
    Run run;
    run.header = sample_header();
    for (const Verdict verdict : verdicts)
        run.cases.push_back(sample_case(run.cases.size(), verdict));
    run.header.case_count = run.cases.size();
    run.footer = count_cases(run.cases);
    run.footer.exit_code = exit_code;
    return run;
}

// What the reader says of the file of this run.
std::string refusal_of(const Run& run) {
    std::string text = line_of(run.header);
    for (const CaseResult& result : run.cases) text += line_of(result);
    text += line_of(run.footer);
    const auto read = parse_results(text, "r");
    return read ? "" : read.error().message;
}

TEST(Contradiction, NoVerdictContradictsItselfAsItIsWritten) {
    for (int verdict = 0; verdict < verdict_count; ++verdict)
        EXPECT_EQ(contradiction_of(sample_case(0, static_cast<Verdict>(verdict))), "") << verdict;
    EXPECT_EQ(refusal_of(run_of({Verdict::pass_exact, Verdict::not_supported}, 0)), "");
    EXPECT_EQ(refusal_of(run_of({Verdict::pass_exact, Verdict::fail}, 1)), "");
}

// One word of a failing record, edited.
TEST(Contradiction, AnotherVerdictForTheSameComparison) {
    const auto edited = [](Verdict from, Verdict to) {
        results::Run run = run_of({from}, 1);
        run.cases[0].verdict = to;
        run.footer.verdicts = count_cases(run.cases).verdicts;
        return refusal_of(run);
    };
    EXPECT_EQ(edited(Verdict::fail, Verdict::pass_exact),
              "r, line 2: contradicts itself: case 0 is pass_exact and has 3 elements and 1 scales "
              "that differ, in 2 mismatches");
    EXPECT_NE(edited(Verdict::fail, Verdict::pass_bounded), "");
    EXPECT_NE(edited(Verdict::fail, Verdict::deviation), "");
    EXPECT_NE(edited(Verdict::fail, Verdict::waived), "");
    EXPECT_NE(edited(Verdict::fail, Verdict::not_supported), "");
    EXPECT_NE(edited(Verdict::waived, Verdict::fail), "");
    EXPECT_NE(edited(Verdict::pass_exact, Verdict::not_supported), "");
    EXPECT_NE(edited(Verdict::crash, Verdict::fail), "");
}

TEST(Contradiction, AFooterThatIsNotOfTheseLines) {
    EXPECT_EQ(refusal_of(run_of({Verdict::fail}, 0)),
              "r, line 3: contradicts the rest: the footer says exit code 0, and case 0 is fail");
    EXPECT_NE(refusal_of(run_of({Verdict::crash}, 77)), "");
    results::Run more = run_of({Verdict::pass_exact}, 0);
    more.header.case_count = 2;
    EXPECT_EQ(refusal_of(more),
              "r, line 3: contradicts the rest: the footer ends a run of 2 cases after 1");
    results::Run counted = run_of({Verdict::fail}, 1);
    counted.footer.verdicts = {{"pass_exact", "1"}};
    EXPECT_NE(refusal_of(counted), "");
    results::Run unmet = run_of({Verdict::pass_exact}, 0);
    unmet.footer.unmet = {"not met"};
    EXPECT_NE(refusal_of(unmet), "");
    results::Run closed = run_of({Verdict::pass_exact}, 0);
    closed.footer.close_fault = "did not close";
    EXPECT_NE(refusal_of(closed), "");
}

}  // namespace
}  // namespace mx::results::test
