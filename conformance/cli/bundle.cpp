// See bundle.hpp.
#include "conformance/cli/bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "conformance/cli/report_files.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/session/pack.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"
#include "reference/proof/sha256.hpp"
#include "reports/model/summary.hpp"
#include "reports/render/renderers.hpp"
#include "reports/render/survey_page.hpp"

namespace mx::cli {
namespace {

namespace fs = std::filesystem;
using results::Survey;
using results::SurveyStep;

constexpr const char* kills_name = "kill_table.json";

std::string folder_of(const std::string& path) {
    return fs::path(path).parent_path().string();
}

// A folder from elsewhere makes nobody read a file of another one.
bool is_below(const fs::path& path) {
    return path.is_relative() && std::ranges::find(path, "..") == path.end();
}

std::string last_line_of(const std::string& text) {
    const std::size_t end = text.find_last_not_of('\n');
    if (end == std::string::npos) return "";
    const std::size_t begin = text.find_last_of('\n', end);
    const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
    return text.substr(first, end + 1 - first);
}

Expected<std::string> finding_of_run(const std::string& path) {
    const auto run = results::read_results(path);
    if (!run) return run.error();
    return reports::summarize(run.value()).headline;
}

// Rows that hold numbers, of all.
template <typename Row>
std::string measured(const std::vector<Row>& rows) {
    const auto count = std::ranges::count_if(rows, [](const Row& r) { return r.reason.empty(); });
    return grouped(static_cast<std::uint64_t>(count)) + " of " + counted(rows.size(), "row") +
           " measured";
}

std::string finding_of_training(const std::vector<results::TrainingCurve>& curves) {
    std::uint64_t same = 0, compared = 0;
    for (const results::TrainingCurve& curve : curves) {
        compared += curve.verdict.empty() ? 0 : 1;
        same += curve.verdict == "same bits" ? 1 : 0;
    }
    return measured(curves) + "; " + grouped(same) + " of " + grouped(compared) +
           " on the device have the same bits";
}

Expected<std::string> finding_of_measurement(const std::string& path) {
    results::Attachments found;
    if (const Status taken = results::attach_file(path, found); !taken) return taken.error();
    if (!found.kills.empty()) return found.kills.front().summary;
    if (!found.benches.empty()) return measured(found.benches.front().rows);
    if (!found.training.empty()) return finding_of_training(found.training);
    return found.gemm.empty() ? measured(found.quantize) : measured(found.gemm);
}

std::string names_in(const nlohmann::json& json, const char* key) {
    std::vector<std::string> names;
    for (const auto& name : json[key]) names.push_back(name.get<std::string>());
    return names.empty() ? "follows nothing that has a name" : "follows " + joined(names, " = ");
}

// What doctor and identify print.
Expected<std::string> finding_of_json(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return text.error();
    const auto json = nlohmann::json::parse(text.value(), nullptr, false);
    try {
        if (json.contains("oracle")) return "oracle " + json["oracle"].get<std::string>();
        if (json.contains("models")) return names_in(json, "models");
        return names_in(json, "dialects");
    } catch (const nlohmann::json::exception&) {
        return bad_input(path + ": is not what doctor or identify print");
    }
}

Expected<std::string> finding_of_answers(const std::string& path) {
    const auto answers = session::RecordedAnswers::read(path);
    if (!answers) return answers.error();
    return counted(answers.value().cases().size(), "case") + " asked and recorded";
}

Expected<std::string> finding_of_log(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return text.error();
    return printable(last_line_of(text.value()));
}

// By what the record of a step is.
Expected<std::string> finding_of(const std::string& folder, const SurveyStep& step) {
    const std::string path = path_in(folder, step.record);
    std::error_code ignored;
    const bool is_empty = !fs::exists(path, ignored) || fs::file_size(path, ignored) == 0;
    if (!step.not_run.empty() || (is_empty && step.exit_code != 0)) return std::string();
    if (is_run(step)) return finding_of_run(path);
    if (step.record.ends_with(".answers")) return finding_of_answers(path);
    if (step.record.ends_with(".log")) return finding_of_log(path);
    if (step.name == "doctor" || step.name.starts_with("identify")) return finding_of_json(path);
    return finding_of_measurement(path);
}

Expected<std::vector<BundleFile>> pages_of_run(const Bundle& bundle, const SurveyStep& step) {
    const auto run = results::read_results(path_in(bundle.folder, step.record));
    if (!run) return run.error();
    // The planted bugs are of the program, not of a device: its table lies above the devices'.
    std::vector<std::string> with;
    std::error_code ignored;
    const std::string kills = path_in(bundle.folder, kills_name);
    if (step.name == reports::conformance_step && fs::exists(kills, ignored)) with.push_back(kills);
    const std::string folder = folder_of(step.record);
    const auto attached = attachments_of(path_in(bundle.folder, folder), with);
    if (!attached) return attached.error();
    reports::Material material(run.value());
    material.attached = &attached.value();
    std::vector<BundleFile> pages;
    for (const reports::Renderer& renderer : reports::renderers)
        pages.push_back(
            {path_in(folder, std::string(renderer.file_name)), renderer.render(material)});
    return pages;
}

std::string text_of(const results::Waiver& waiver) {
    return waiver.case_pattern + " on " + waiver.device + ", " + results::mismatches_of(waiver) +
           ", " + waiver.state + ", until " + waiver.expires + ", " + waiver.owner + ": " +
           waiver.reason + " (" + waiver.link + ")";
}

void add_new(std::vector<std::string>& sentences, std::string sentence) {
    if (std::ranges::find(sentences, sentence) == sentences.end())
        sentences.push_back(std::move(sentence));
}

Status add_run(const Bundle& bundle, const SurveyStep& step, results::Manifest& manifest) {
    const auto run = results::read_results(path_in(bundle.folder, step.record));
    if (!run) return run.error();
    for (const results::Waiver& waiver : run.value().header.waivers)
        add_new(manifest.waivers, text_of(waiver));
    for (const reports::NotRun& group : reports::summarize(run.value()).not_run)
        manifest.not_run.push_back(step.title() + ": " + counted(group.cases, "case") + " of " +
                                   group.operation + ": " + group.reason);
    return success();
}

}  // namespace

Expected<std::vector<results::FileDigest>> digests_of(const std::string& folder) {
    std::vector<results::FileDigest> files;
    std::error_code error;
    for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
        if (each->is_directory() && !each->is_symlink()) continue;
        const std::string path = fs::path(each->path()).lexically_relative(folder).generic_string();
        if (path == manifest_name) continue;
        const auto text = text_of_file(each->path().string());
        if (!text) return text.error();
        files.push_back({path, text.value().size(), sha256(text.value())});
    }
    if (error) return Error{ErrorKind::system, folder + ": " + error.message()};
    std::ranges::sort(files, {}, &results::FileDigest::path);
    return files;
}

std::string path_in(const std::string& folder, const std::string& path) {
    return (fs::path(folder) / path).string();
}

std::string digest_of(const BundleFile& file) {
    return sha256(file.text);
}

bool is_run(const SurveyStep& step) {
    return step.not_run.empty() && step.record.ends_with("results.jsonl");
}

Expected<Survey> read_survey(const std::string& folder) {
    const std::string path = path_in(folder, survey_name);
    const auto text = text_of_file(path);
    if (!text) return text.error();
    auto survey = results::parse_survey(text.value(), path);
    if (!survey) return survey;
    for (const SurveyStep& step : survey.value().steps)
        if (!is_below(step.record))
            return bad_input(path + ": the record of " + step.title() + " is not in this folder");
    return survey;
}

Status write_survey(const Survey& survey, const std::string& folder) {
    const std::string text = results::text_of(survey);
    return write_atomically(path_in(folder, survey_name), {std::as_bytes(std::span(text))});
}

Expected<Bundle> bundle_of(const std::string& folder, Survey survey) {
    Bundle bundle{folder, std::move(survey)};
    for (const SurveyStep& step : bundle.survey.steps) {
        auto finding = finding_of(folder, step);
        if (!finding) return finding.error();
        bundle.findings.push_back(std::move(finding).value());
    }
    return bundle;
}

Expected<std::vector<BundleFile>> pages_of(const Bundle& bundle) {
    const reports::SurveyMaterial material{bundle.survey, bundle.findings};
    std::vector<BundleFile> pages{{"survey.html", reports::render_survey_html(material)},
                                  {"survey.md", reports::render_survey_markdown(material)}};
    std::error_code ignored;
    for (const SurveyStep& step : bundle.survey.steps) {
        if (!is_run(step) || !fs::exists(path_in(bundle.folder, step.record), ignored)) continue;
        auto more = pages_of_run(bundle, step);
        if (!more) return more.error();
        for (BundleFile& page : more.value()) pages.push_back(std::move(page));
    }
    return pages;
}

Expected<results::Manifest> manifest_of(const Bundle& bundle) {
    const Survey& survey = bundle.survey;
    const reports::SurveyMaterial material{survey, bundle.findings};
    results::Manifest manifest;
    manifest.sentence = reports::sentence_of(material);
    manifest.exit_code = reports::exit_code_of(survey);
    manifest.program_version = survey.program_version;
    manifest.commit = survey.commit;
    manifest.dirty = survey.dirty;
    manifest.subjects = survey.subjects;
    manifest.environment = survey.environment;
    manifest.table_hashes = survey.table_hashes;
    std::error_code ignored;
    for (const SurveyStep& step : survey.steps) {
        if (!step.not_run.empty()) manifest.not_run.push_back(step.title() + ": " + step.not_run);
        if (!is_run(step) || !fs::exists(path_in(bundle.folder, step.record), ignored)) continue;
        if (const Status added = add_run(bundle, step, manifest); !added) return added.error();
    }
    auto files = digests_of(bundle.folder);
    if (!files) return files.error();
    manifest.files = std::move(files).value();
    return manifest;
}

}  // namespace mx::cli
