// See survey.hpp.
#include "reports/model/survey.hpp"

#include <algorithm>
#include <array>

#include "reference/base/text.hpp"

namespace mx::reports {
namespace {

using results::Survey;
using results::SurveyStep;

constexpr int nothing_tested = 77;

// The worst first.
struct Bad {
    int exit_code;
    std::string_view word;
};
constexpr std::array bad_codes{
    Bad{5, "OWN FAULT"}, Bad{3, "DEVICE FAULT"}, Bad{1, "MISMATCH"},
    Bad{2, "ERROR"},     Bad{4, "INCOMPLETE"},
};

// Where no row has it, an exit code that no command gives, it counts as a fault of ours.
const Bad* bad_of(const SurveyStep& step) {
    if (is_not_run(step) || step.exit_code == 0) return nullptr;
    const auto found = std::ranges::find(bad_codes, step.exit_code, &Bad::exit_code);
    return found == bad_codes.end() ? &bad_codes.front() : &*found;
}

const SurveyStep* worst_of(const Survey& survey) {
    const SurveyStep* worst = nullptr;
    for (const SurveyStep& step : survey.steps)
        if (const Bad* bad = bad_of(step); bad != nullptr)
            if (worst == nullptr || bad < bad_of(*worst)) worst = &step;
    return worst;
}

bool every_run_passed(const Survey& survey) {
    return std::ranges::all_of(survey.subjects, [&](const results::SurveySubject& subject) {
        return std::ranges::any_of(survey.steps, [&](const SurveyStep& step) {
            return step.subject == subject.folder && step.name == conformance_step &&
                   step.not_run.empty() && step.exit_code == 0;
        });
    });
}

std::string devices_of(const Survey& survey) {
    std::vector<std::string> names;
    for (const results::SurveySubject& subject : survey.subjects) names.push_back(subject.device);
    return joined(names, ", ");
}

std::string titles_of(const Survey& survey, bool (*fits)(const SurveyStep&)) {
    std::vector<std::string> titles;
    for (const SurveyStep& step : survey.steps)
        if (fits(step)) titles.push_back(step.title());
    return joined(titles, ", ");
}

std::string others(const Survey& survey) {
    const StepCounts counts = counts_of(survey);
    std::string text = counted(counts.passed, "step") + " passed";
    if (counts.not_run != 0)
        text += ", " + grouped(counts.not_run) + " not run (" + titles_of(survey, is_not_run) + ")";
    if (survey.effort != "full")
        text += ". " + std::string(results::not_a_conformance_run) + ": effort " + survey.effort;
    return text + ".";
}

std::string without_stop(std::string text) {
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

bool is_not_run(const SurveyStep& step) {
    return !step.not_run.empty() || step.exit_code == nothing_tested;
}

int exit_code_of(const Survey& survey) {
    if (const SurveyStep* worst = worst_of(survey)) return bad_of(*worst)->exit_code;
    return !survey.subjects.empty() && every_run_passed(survey) ? 0 : nothing_tested;
}

StepCounts counts_of(const Survey& survey) {
    StepCounts counts;
    for (const SurveyStep& step : survey.steps)
        ++(is_not_run(step) ? counts.not_run : bad_of(step) ? counts.bad : counts.passed);
    return counts;
}

std::string_view word_of(const SurveyStep& step) {
    if (is_not_run(step)) return "not run";
    const Bad* bad = bad_of(step);
    return bad == nullptr ? "passed" : bad->word;
}

std::string sentence_of(const SurveyMaterial& material) {
    const Survey& survey = material.survey;
    const SurveyStep* worst = worst_of(survey);
    if (worst == nullptr && exit_code_of(survey) != 0)
        return "Nothing can be said of " + devices_of(survey) + ": its run compared nothing; " +
               others(survey);
    if (worst == nullptr) return "No fault found in " + devices_of(survey) + ": " + others(survey);
    const auto place = static_cast<std::size_t>(worst - survey.steps.data());
    const std::string finding =
        place < material.findings.size() ? without_stop(material.findings[place]) : "";
    const auto is_bad = [](const SurveyStep& step) { return bad_of(step) != nullptr; };
    return std::string(word_of(*worst)) + " in " + worst->title() +
           (finding.empty() ? "" : ": " + finding) + "; " + counted(counts_of(survey).bad, "step") +
           " with a fault (" + titles_of(survey, is_bad) + "), " + others(survey);
}

}  // namespace mx::reports
