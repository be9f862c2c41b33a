// See survey_page.hpp.
#include "reports/render/survey_page.hpp"

#include "reports/model/phrases.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports {
namespace {

using results::Field;
using results::Survey;
using results::SurveyStep;

std::string_view tone_of(const SurveyStep& step) {
    if (is_not_run(step)) return "mute";
    return step.exit_code == 0 ? "good" : "bad";
}

std::string_view tone_of(int exit_code) {
    return exit_code == 0 ? "good" : exit_code == 77 ? "note" : "bad";
}

// What came of it, or why nothing did.
std::string finding_of(const SurveyMaterial& material, std::size_t place) {
    const SurveyStep& step = material.survey.steps[place];
    if (!step.not_run.empty()) return step.not_run;
    return place < material.findings.size() ? material.findings[place] : "";
}

// Of a record of a run the page beside it, of anything else the record.
std::string target_of(const SurveyStep& step) {
    constexpr std::string_view results_name = "results.jsonl";
    if (!step.not_run.empty() || !step.record.ends_with(results_name)) return step.record;
    return step.record.substr(0, step.record.size() - results_name.size()) + "report.html";
}

std::string link_of(const SurveyStep& step) {
    if (!step.not_run.empty() || step.record.empty()) return "";
    const std::string target = escape_markup(target_of(step));
    return "<a href=\"" + target + "\">" + target + "</a>";
}

std::string head(const Survey& survey) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>mxcheck survey</title>\n"
           "<style>" +
           std::string(html::style_sheet()) +
           "</style>\n</head>\n<body>\n<header>\n<p class=\"kicker\">mxcheck " +
           escape_markup(survey.program_version) + ", commit " + escape_markup(survey.commit) +
           (survey.dirty ? ", with local changes" : "") + "</p>\n";
}

std::string devices_of(const Survey& survey) {
    std::string text;
    for (const results::SurveySubject& subject : survey.subjects)
        text += (text.empty() ? "" : ", ") + subject.device;
    return text;
}

std::string steps_table(const SurveyMaterial& material) {
    html::Table table("Steps", {{"step"}, {"asks"}, {"verdict"}, {"found"}, {"time"}, {"record"}});
    for (std::size_t i = 0; i < material.survey.steps.size(); ++i) {
        const SurveyStep& step = material.survey.steps[i];
        table.add({escape_markup(step.title()), escape_markup(step.asks),
                   "<span class=\"tag " + std::string(tone_of(step)) + "\">" +
                       std::string(word_of(step)) + "</span>",
                   html::shown(finding_of(material, i)),
                   step.not_run.empty() ? duration(step.seconds) : "", link_of(step)});
    }
    return table.markup();
}

std::string fields_table(const std::string& title, const std::vector<Field>& fields) {
    html::Table table(title, {{"what"}, {"value"}});
    for (const Field& field : fields)
        table.add({escape_markup(field.key), html::shown(field.value)});
    return "<h2>" + escape_markup(title) + "</h2>\n" + table.markup();
}

}  // namespace

std::string render_survey_html(const SurveyMaterial& material) {
    const Survey& survey = material.survey;
    std::string text = head(survey) + "<h1>Survey of " + escape_markup(devices_of(survey)) +
                       "</h1>\n<p class=\"soft\">" + escape_markup(survey.started) + ", effort " +
                       escape_markup(survey.effort) +
                       "</p>\n</header>\n<main>\n<p id=\"headline\" class=\"verdict " +
                       std::string(tone_of(exit_code_of(survey))) + "\">" +
                       escape_markup(sentence_of(material)) + "</p>\n<h2>Steps</h2>\n" +
                       steps_table(material);
    for (const results::SurveySubject& subject : survey.subjects)
        text += fields_table("Device " + subject.device, subject.facts);
    text += fields_table("Machine", survey.environment);
    text += fields_table("Tables", survey.table_hashes);
    return text +
           "</main>\n<footer>\n<p>manifest.json has the digest of every file; "
           "<code>mxcheck verify</code> checks this folder without the machine.</p>\n"
           "</footer>\n</body>\n</html>\n";
}

std::string render_survey_markdown(const SurveyMaterial& material) {
    const Survey& survey = material.survey;
    std::string text = "## mxcheck survey: " + escape_markdown(devices_of(survey)) + "\n\n**" +
                       escape_markdown(sentence_of(material)) +
                       "**\n\n| step | verdict | found | time |\n| --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < survey.steps.size(); ++i) {
        const SurveyStep& step = survey.steps[i];
        text += "| " + escape_markdown(step.title()) + " | " + std::string(word_of(step)) + " | " +
                escape_markdown(finding_of(material, i)) + " | " +
                (step.not_run.empty() ? duration(step.seconds) : "") + " |\n";
    }
    return text + "\nmxcheck " + escape_markdown(survey.program_version) + ", commit " +
           escape_markdown(survey.commit) + ", " + escape_markdown(survey.started) + ", effort " +
           escape_markdown(survey.effort) + ".\n";
}

}  // namespace mx::reports
