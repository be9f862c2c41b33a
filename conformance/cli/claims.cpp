// See claims.hpp.
#include "conformance/cli/claims.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "conformance/case/fields.hpp"
#include "conformance/cli/arguments.hpp"
#include "conformance/cli/bundle.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/cli/survey_steps.hpp"
#include "conformance/results/attachments.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/session/pack.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"
#include "reports/model/survey.hpp"

namespace mx::cli {
namespace {

using results::CaseResult;
using results::Run;
using results::Survey;
using results::SurveyStep;
using results::Verdict;

Claim stands(std::string name, std::string sentence) {
    return {Standing::stands, std::move(name), std::move(sentence)};
}
Claim falls(std::string name, std::string sentence) {
    return {Standing::falls, std::move(name), std::move(sentence)};
}
Claim unchecked(std::string name, std::string sentence) {
    return {Standing::unchecked, std::move(name), std::move(sentence)};
}

// The first few of what is wrong, and how many there are.
std::string few_of(const std::vector<std::string>& faults) {
    constexpr std::size_t shown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, faults.size()); ++i)
        text += (i == 0 ? "" : "; ") + faults[i];
    if (faults.size() > shown) text += "; and " + grouped(faults.size() - shown) + " more";
    return text;
}

bool is_same_program(const Survey& survey) {
    return survey.commit == this_build().commit && survey.dirty == this_build().is_dirty;
}

std::string other_program(const Survey& survey) {
    return "made by commit " + survey.commit + (survey.dirty ? " with local changes" : "") +
           ", this is another mxcheck";
}

bool has_same_tables(const Survey& survey) {
    return survey.table_hashes == new_header().table_hashes;
}

// The exit code that the cases of a run call for; earlier versions took a case of insufficient data
// for a fault. Relations of which nothing is claimed are cases
// that pass, and no relation that held.
bool is_code_of(const Run& run, int code) {
    const int called_for = session::number_of(session::outcome_of(run, true));
    const bool has_insufficient =
        std::ranges::any_of(run.cases, [](const results::CaseResult& result) {
            return result.verdict == results::Verdict::insufficient_data;
        });
    const bool is_relation = run.header.level == "relations";
    return code == called_for ||
           (has_insufficient && called_for == exit_incomplete && code == exit_mismatch) ||
           (is_relation && called_for == exit_conformant && code == exit_nothing_tested);
}

Claim claim_of_run(const SurveyStep& step, const std::string& folder) {
    const std::string name = step.title() + ", verdicts";
    const auto read = results::read_results(path_in(folder, step.record));
    if (!read) return falls(name, read.error().message);
    const Run& run = read.value();
    if (!run.complete) return falls(name, "the record has no footer, yet its step ended");
    const std::string codes = "exit code " + std::to_string(run.footer.exit_code);
    if (!is_code_of(run, run.footer.exit_code))
        return falls(name, "the footer says " + codes + ", its cases call for " +
                               std::to_string(session::number_of(session::outcome_of(run, true))));
    if (step.exit_code != run.footer.exit_code)
        return falls(name,
                     "the footer says " + codes + ", the survey " + std::to_string(step.exit_code));
    return stands(name, counted(run.cases.size(), "verdict") +
                            " agree with their counts and mismatches, the footer with them; " +
                            codes);
}

struct Tally {
    bool is_wrong = false, is_compared = false;
    int code() const {
        return is_wrong ? exit_mismatch : is_compared ? exit_conformant : exit_nothing_tested;
    }
};

Tally tally_of(const std::vector<results::QuantizeAccuracy>& rows) {
    Tally tally;
    for (const results::QuantizeAccuracy& row : rows) {
        if (!row.reason.empty() || !row.beside || row.source == row.beside->source) continue;
        tally.is_compared = true;
        tally.is_wrong |= row.values_changed + row.scales_changed != 0;
    }
    return tally;
}

Tally tally_of(const std::vector<results::TrainingCurve>& curves) {
    Tally tally;
    for (const results::TrainingCurve& curve : curves) {
        tally.is_compared |= curve.verdict == "same bits";
        tally.is_wrong |= curve.verdict == "differs";
    }
    return tally;
}

// What is wrong with the counts of a group of planted bugs, "" if nothing is.
std::string fault_of(const results::KillGroup& group) {
    const auto killed = static_cast<std::uint64_t>(
        std::ranges::count_if(group.bugs, [](const auto& bug) { return bug.killed; }));
    if (killed == group.killed) return "";
    return "counts " + grouped(group.killed) + " planted bugs as killed, and lists " +
           grouped(killed);
}

std::string fault_of(const results::KillMatrix& kills) {
    if (kills.passed != kills.problems.empty())
        return kills.passed ? "says passed, and lists problems" : "says failed, and lists none";
    std::string fault = fault_of(kills.blocks);
    for (const auto* group : {&kills.real_scales, &kills.gemm, &kills.gpu})
        if (*group && fault.empty()) fault = fault_of(**group);
    return fault;
}

// The exit code that what was measured calls for; nothing where the record does not say it.
std::optional<int> code_of(const results::Attachments& measured) {
    if (!measured.kills.empty())
        return measured.kills.front().passed ? exit_conformant : exit_self_test;
    if (!measured.training.empty()) return tally_of(measured.training).code();
    if (!measured.quantize.empty()) return tally_of(measured.quantize).code();
    return std::nullopt;
}

std::optional<Claim> claim_of_measurement(const SurveyStep& step, const std::string& folder) {
    const bool is_measurement =
        step.record.ends_with("accuracy.json") || step.record.ends_with("training.json") ||
        step.record.ends_with("kill_table.json") || step.record.ends_with("bench.jsonl");
    if (!is_measurement || !step.not_run.empty() || step.exit_code > exit_mismatch) return {};
    const std::string name = step.title() + ", record";
    results::Attachments measured;
    if (const Status read = results::attach_file(path_in(folder, step.record), measured); !read)
        return falls(name, read.error().message);
    for (const results::KillMatrix& kills : measured.kills)
        if (const std::string fault = fault_of(kills); !fault.empty()) return falls(name, fault);
    const auto code = code_of(measured);
    if (!code) return stands(name, "every row is whole; what was measured cannot be made again");
    if (*code != step.exit_code)
        return falls(name, "its rows call for exit code " + std::to_string(*code) +
                               ", the survey says " + std::to_string(step.exit_code));
    return stands(name, "its rows call for exit code " + std::to_string(*code));
}

// What the planned cases of a run are; sweeps are not among them.
Claim claim_of_plan(const SurveyStep& step, const Run& run) {
    const std::string name = step.title() + ", plan";
    Sources sources;
    const auto cases = session::planned(
        {.level = run.header.level, .suite = run.header.suites, .seed = run.header.seed}, sources);
    if (!cases) return falls(name, cases.error().message);
    std::vector<std::string> faults;
    std::size_t place = 0;
    for (const PlannedCase& planned : cases.value()) {
        const std::string text = print(planned.c);
        if (place >= run.cases.size() || run.cases[place].case_text != text)
            faults.push_back("case " + std::to_string(place) + " is not " + text);
        ++place;
    }
    for (; place < run.cases.size(); ++place)
        if (!run.cases[place].case_text.starts_with("sweep "))
            faults.push_back("case " + std::to_string(place) + " is in no suite");
    if (!faults.empty()) return falls(name, few_of(faults));
    return stands(name, "its cases are those of level " + run.header.level + ", seed " +
                            std::to_string(run.header.seed) + ", none is missing or made up");
}

// A verdict that the same answers give again. A flake may not show again, and what hung or crashed
// has no answer.
bool can_be_judged_again(Verdict verdict) {
    constexpr std::array kinds{Verdict::pass_exact,    Verdict::pass_bounded, Verdict::deviation,
                               Verdict::not_supported, Verdict::fail,         Verdict::waived};
    return std::ranges::find(kinds, verdict) != kinds.end();
}

std::string counts_of(const CaseResult& result) {
    return std::string(results::name_of(result.verdict)) + ", " +
           grouped(result.mismatched_elements) + " of " + grouped(result.elements) +
           " elements and " + grouped(result.mismatched_scales) + " of " + grouped(result.scales) +
           " scales differ";
}

bool is_same(const CaseResult& recorded, const CaseResult& again) {
    const bool same_verdict =
        recorded.verdict == again.verdict ||
        (recorded.verdict == Verdict::waived && again.verdict == Verdict::fail);
    return same_verdict && recorded.elements == again.elements && recorded.scales == again.scales &&
           recorded.mismatched_elements == again.mismatched_elements &&
           recorded.mismatched_scales == again.mismatched_scales;
}

struct Judged {
    std::size_t again = 0, of = 0;
    std::vector<std::string> faults;
};

Expected<Judged> judge_again(const Run& run, const session::RecordedAnswers& answers) {
    std::set<std::string> answered;
    for (const Case& c : answers.cases()) answered.insert(print(c));
    Sources sources;
    Runner runner(answers.client(), sources, {"", true});
    Judged judged;
    for (const CaseResult& recorded : run.cases) {
        ++judged.of;
        if (!answered.contains(recorded.case_text) || !can_be_judged_again(recorded.verdict))
            continue;
        const auto c = parse_case(recorded.case_text);
        if (!c) return c.error();
        const auto again = runner.run({recorded.suite, c.value()});
        if (!again) return again.error();
        ++judged.again;
        if (!is_same(recorded, again.value()))
            judged.faults.push_back("case " + std::to_string(recorded.index) + " is recorded as " +
                                    counts_of(recorded) + ", and its answer is " +
                                    counts_of(again.value()));
    }
    return judged;
}

const SurveyStep* step_of(const Survey& survey, const std::string& subject, std::string_view name) {
    const auto found = std::ranges::find_if(survey.steps, [&](const SurveyStep& step) {
        return step.subject == subject && step.name == name;
    });
    return found == survey.steps.end() ? nullptr : &*found;
}

Claim claim_of_subject(const Survey& survey, const std::string& subject,
                       const std::string& folder) {
    const std::string name = subject + " run, answers";
    const SurveyStep* recorded = step_of(survey, subject, "answers");
    const SurveyStep* ran = step_of(survey, subject, reports::conformance_step);
    if (recorded == nullptr || ran == nullptr || !is_run(*ran) || !recorded->not_run.empty() ||
        recorded->exit_code != exit_conformant)
        return unchecked(name, "no answers of the device are recorded here");
    const auto answers = session::RecordedAnswers::read(path_in(folder, recorded->record));
    if (!answers) return falls(name, answers.error().message);
    if (const Status whole = answers.value().is_whole(); !whole)
        return falls(name, whole.error().message);
    const auto run = results::read_results(path_in(folder, ran->record));
    if (!run) return falls(name, run.error().message);
    const auto judged = judge_again(run.value(), answers.value());
    if (!judged) return falls(name, judged.error().message);
    const Judged& found = judged.value();
    if (!found.faults.empty()) return falls(name, few_of(found.faults));
    return stands(name, grouped(found.again) + " of " + grouped(found.of) +
                            " verdicts and counts are made again from the recorded answers");
}

}  // namespace

Claim claim_of_files(const std::vector<results::FileDigest>& listed,
                     const std::vector<results::FileDigest>& found_files) {
    std::map<std::string, const results::FileDigest*> there;
    for (const results::FileDigest& file : found_files) there[file.path] = &file;
    std::vector<std::string> faults;
    for (const results::FileDigest& file : listed) {
        const auto found = there.find(file.path);
        if (found == there.end())
            faults.push_back(printable(file.path) + " is missing");
        else if (*found->second != file)
            faults.push_back(printable(file.path) + " is not the file that was digested");
        if (found != there.end()) there.erase(found);
    }
    for (const auto& [path, file] : there)
        faults.push_back(printable(path) + " is in no line of the manifest");
    if (!faults.empty()) return falls("files", few_of(faults));
    return stands("files",
                  counted(listed.size(), "file") + ", each with its SHA-256, and no other");
}

std::vector<Claim> claims_of_steps(const Survey& survey) {
    if (!is_same_program(survey)) return {unchecked("steps", other_program(survey))};
    std::vector<Subject> subjects;
    for (const results::SurveySubject& subject : survey.subjects)
        subjects.push_back({{.device = subject.device}, subject.folder});
    const auto planned = planned_steps(subjects, {.is_quick = survey.effort == "quick"}, "");
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < std::max(planned.size(), survey.steps.size()); ++i) {
        if (i >= planned.size())
            faults.push_back(survey.steps[i].title() + " is no step");
        else if (i >= survey.steps.size() || survey.steps[i].title() != planned[i].step.title() ||
                 survey.steps[i].record != planned[i].step.record ||
                 survey.steps[i].asks != planned[i].step.asks)
            faults.push_back("step " + std::to_string(i + 1) + " is not " +
                             planned[i].step.title());
    }
    if (!faults.empty()) return {falls("steps", few_of(faults))};
    return {stands("steps", "all " + std::to_string(planned.size()) +
                                " steps of a survey are there, run or not run with a reason")};
}

std::vector<Claim> claims_of_records(const Survey& survey, const std::string& folder) {
    std::vector<Claim> claims;
    for (const SurveyStep& step : survey.steps) {
        if (is_run(step))
            claims.push_back(claim_of_run(step, folder));
        else if (auto claim = claim_of_measurement(step, folder))
            claims.push_back(*claim);
    }
    return claims;
}

std::vector<Claim> claims_of_plans(const Survey& survey, const std::string& folder) {
    std::vector<Claim> claims;
    for (const SurveyStep& step : survey.steps) {
        if (!is_run(step) || step.name != reports::conformance_step) continue;
        const auto run = results::read_results(path_in(folder, step.record));
        if (!run) continue;  // said of the record
        claims.push_back(
            has_same_tables(survey)
                ? claim_of_plan(step, run.value())
                : unchecked(step.title() + ", plan", "this mxcheck has other tables or suites"));
    }
    return claims;
}

std::vector<Claim> claims_of_answers(const Survey& survey, const std::string& folder) {
    std::vector<Claim> claims;
    for (const results::SurveySubject& subject : survey.subjects)
        claims.push_back(has_same_tables(survey)
                             ? claim_of_subject(survey, subject.folder, folder)
                             : unchecked(subject.folder + " run, answers",
                                         "this mxcheck has other tables or suites"));
    return claims;
}

Claim claim_of_facts(const results::Manifest& manifest, const results::Manifest& made) {
    std::vector<std::string> faults;
    const auto hold = [&faults](bool same, const char* what) {
        if (!same) faults.emplace_back(what);
    };
    hold(manifest.sentence == made.sentence, "the sentence");
    hold(manifest.exit_code == made.exit_code, "the exit code");
    hold(manifest.program_version == made.program_version && manifest.commit == made.commit &&
             manifest.dirty == made.dirty,
         "the program");
    hold(manifest.subjects == made.subjects, "the devices and their facts");
    hold(manifest.environment == made.environment, "the machine");
    hold(manifest.table_hashes == made.table_hashes, "the hashes of the tables");
    hold(manifest.waivers == made.waivers, "the waivers");
    hold(manifest.not_run == made.not_run, "what was not run");
    if (!faults.empty())
        return falls("manifest", "the records say something else of " + joined(faults, ", "));
    return stands("manifest",
                  "sentence, exit code, program, tables, devices, waivers and what was not run "
                  "follow from the records");
}

Claim claim_of_pages(const Survey& survey, const std::string& folder) {
    if (!is_same_program(survey)) return unchecked("pages", other_program(survey));
    const auto bundle = bundle_of(folder, survey);
    if (!bundle) return falls("pages", bundle.error().message);
    const auto pages = pages_of(bundle.value());
    if (!pages) return falls("pages", pages.error().message);
    std::vector<std::string> faults;
    for (const BundleFile& page : pages.value()) {
        const auto text = text_of_file(path_in(folder, page.path));
        if (!text || text.value() != page.text)
            faults.push_back(page.path + " is not what its records make");
    }
    if (!faults.empty()) return falls("pages", few_of(faults));
    return stands("pages", counted(pages.value().size(), "page") + " made again, byte for byte");
}

}  // namespace mx::cli
