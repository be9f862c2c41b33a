// What a survey comes to: its exit code, the word for each step, the sentence on top. Used by the
// page of a survey and by the program. Must not know any format of output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/survey_record.hpp"

namespace mx::reports {

// Points to what outlives it.
struct SurveyMaterial {
    const results::Survey& survey;
    std::vector<std::string> findings;  // of each step, a sentence out of its record; "" for none
};

// The step that every device must have passed before a survey is green.
inline constexpr std::string_view conformance_step = "run";

// The worst of the steps': 5, 3, 1, 2, 4, in this order. Where none of them is there: 0 if the run
// of each device ended with 0, else 77. So a step that was not run, or that tested nothing, makes
// no survey red, and none green.
int exit_code_of(const results::Survey& survey);

struct StepCounts {
    std::size_t passed = 0, not_run = 0, bad = 0;
};
StepCounts counts_of(const results::Survey& survey);

// "passed", "not run", "MISMATCH", ...
std::string_view word_of(const results::SurveyStep& step);
// It says nothing of the device: the device lacks it, or nothing was tested in it.
bool is_not_run(const results::SurveyStep& step);

// Names the worst step and what it found, counts the others.
std::string sentence_of(const SurveyMaterial& material);

}  // namespace mx::reports
