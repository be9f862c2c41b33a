// What a survey comes to, from the exit codes of its steps.
#include "reports/model/survey.hpp"

#include <gtest/gtest.h>

#include "reports/render/survey_page.hpp"

namespace mx::reports {
namespace {

results::SurveyStep step(const std::string& name, int exit_code) {
    results::SurveyStep step;
    step.name = name;
    step.subject = name == "selftest" ? "" : "dut";
    step.record = "dut/" + name + "/results.jsonl";
    step.exit_code = exit_code;
    return step;
}

results::SurveyStep left_out(const std::string& name) {
    results::SurveyStep left = step(name, 0);
    left.not_run = "the <device> lacks it";
    return left;
}

results::Survey survey_of(std::vector<results::SurveyStep> steps) {
    results::Survey survey;
    survey.effort = "full";
    survey.subjects = {{"dut", "./dut.so", {}}};
    survey.steps = std::move(steps);
    survey.complete = true;
    return survey;
}

TEST(SurveyTest, TheWorstStepDecides) {
    EXPECT_EQ(exit_code_of(survey_of({step("run", 0), step("fuzz", 0)})), 0);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 0), step("fuzz", 4)})), 4);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 4), step("fuzz", 2)})), 2);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 2), step("fuzz", 1)})), 1);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 1), step("fuzz", 3)})), 3);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 3), step("selftest", 5)})), 5);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 0), step("fuzz", 139)})), 5);
}

TEST(SurveyTest, AStepThatTestedNothingMakesNothingGreen) {
    EXPECT_EQ(exit_code_of(survey_of({step("run", 0), step("fuzz", 77)})), 0);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 0), left_out("maps")})), 0);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 77), step("fuzz", 0)})), 77);
    EXPECT_EQ(exit_code_of(survey_of({left_out("run"), step("fuzz", 0)})), 77);
    EXPECT_EQ(exit_code_of(survey_of({step("fuzz", 0)})), 77);
    EXPECT_EQ(exit_code_of(survey_of({})), 77);
    EXPECT_EQ(exit_code_of(survey_of({step("run", 77), step("fuzz", 1)})), 1);
    results::Survey two = survey_of({step("run", 0)});
    two.subjects.push_back({"other", "./other.so", {}});
    EXPECT_EQ(exit_code_of(two), 77);
}

TEST(SurveyTest, OneSentence) {
    const results::Survey good = survey_of({step("run", 0), left_out("maps")});
    EXPECT_EQ(sentence_of({good, {"", ""}}),
              "No fault found in ./dut.so: 1 step passed, 1 not run (dut maps).");
    const results::Survey bad = survey_of({step("run", 1), step("fuzz", 3), step("identify", 0)});
    EXPECT_EQ(sentence_of({bad, {"ties", "it hung.", ""}}),
              "DEVICE FAULT in dut fuzz: it hung; 2 steps with a fault (dut run, dut fuzz), "
              "1 step passed.");
    results::Survey quick = survey_of({step("run", 77)});
    quick.effort = "quick";
    EXPECT_EQ(
        sentence_of({quick, {""}}),
        "Nothing can be said of ./dut.so: its run compared nothing; 0 steps passed, 1 not run "
        "(dut run). NOT A CONFORMANCE RUN: effort quick.");
}

TEST(SurveyTest, NoTextOfARecordBecomesMarkup) {
    const results::Survey survey = survey_of({step("run", 0), left_out("maps")});
    const std::string page = render_survey_html({survey, {"<script>", ""}});
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_NE(page.find("the &lt;device&gt; lacks it"), std::string::npos);
    EXPECT_EQ(render_survey_markdown({survey, {"a | b", ""}}).find("a | b"), std::string::npos);
}

}  // namespace
}  // namespace mx::reports
