// The plain tables of the HTML page: deviations, what was not run, environment, cases. Used by
// html.cpp. Must not know the other sections.
#include <algorithm>

#include "reports/model/phrases.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::CaseResult;
using results::Field;
using results::Run;
using results::RunHeader;

// Longer runs list only the cases that did not pass.
constexpr std::size_t listed_cases_max = 2000;

struct Heading {
    std::string_view id, title;
};

std::string section_start(const Heading& heading) {
    const std::string id(heading.id);
    return "<section id=\"" + id + "\" aria-labelledby=\"" + id + "-title\">\n<h2 id=\"" + id +
           "-title\">" + std::string(heading.title) + "</h2>\n";
}

std::string tag(Verdict verdict) {
    return "<span class=\"tag " + std::string(tone_of(verdict)) + "\">" + words_of(verdict) +
           "</span>";
}

std::string or_unsaid(const std::string& text) {
    return text.empty() ? "<span class=\"soft\">no reason given</span>" : escape_markup(text);
}

std::string pairs(const std::vector<Field>& fields) {
    if (fields.empty()) return "<p>Nothing is known.</p>\n";
    std::string text = "<dl class=\"pairs\">\n";
    for (const Field& field : fields)
        text += "<dt>" + escape_markup(field.key) + "</dt><dd>" + escape_markup(field.value) +
                "</dd>\n";
    return text + "</dl>\n";
}

std::string command_line(const std::vector<std::string>& argv) {
    std::string text;
    for (const std::string& word : argv) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::vector<Field> run_fields(const RunHeader& header) {
    return {
        {"command", command_line(header.argv)},
        {"started", header.started.empty() ? "not recorded" : header.started},
        {"level", header.level},
        {"suites", header.suites},
        {"dialects", header.dialects},
        {"seed", std::to_string(header.seed)},
        {"shard", header.shard},
        {"mxcheck", header.program_version},
        {"commit", header.commit + (header.dirty ? ", with uncommitted changes" : "")},
    };
}

std::string case_row(const CaseResult& result) {
    return "<tr><td class=\"right\">" + grouped(result.index) + "</td><td>" + tag(result.verdict) +
           "</td><td class=\"text\"><code>" + escape_markup(result.case_text) + "</code>" +
           (result.reason.empty() ? "" : "<br>" + escape_markup(result.reason)) +
           "</td><td class=\"right\">" + grouped(result.elements) + "</td><td class=\"right\">" +
           grouped(result.scales) + "</td><td class=\"right\">" +
           grouped(result.mismatched_elements + result.mismatched_scales) + "</td></tr>\n";
}

bool is_a_plain_pass(const CaseResult& result) {
    return result.verdict == Verdict::pass_exact || result.verdict == Verdict::pass_bounded;
}

}  // namespace

std::string deviations_section(const Summary& summary) {
    std::string text = section_start({"deviations", "Deviations"});
    if (summary.deviations.empty())
        return text + "<p>None: wherever the standard leaves an answer open, the device chose as "
                      "this program does.</p>\n</section>\n";
    text += "<p>Here the dialect's source leaves the answer open. The device chose otherwise than "
            "this program; that is recorded, and is no failure.</p>\n"
            "<table class=\"prose-table\"><thead><tr><th scope=\"col\">open decision</th>"
            "<th scope=\"col\" class=\"right\">cases</th>"
            "<th scope=\"col\" class=\"right\">elements or scales</th>"
            "<th scope=\"col\">first case</th></tr></thead><tbody>\n";
    for (const OpenDecision& decision : summary.deviations)
        text += "<tr><th scope=\"row\">" + or_unsaid(decision.decision) +
                "</th><td class=\"right\" data-label=\"cases\">" + number(decision.cases) +
                "</td><td class=\"right\" data-label=\"elements or scales\">" +
                number(decision.count) + "</td><td><code>" +
                escape_markup(decision.example->case_text) + "</code></td></tr>\n";
    return text + "</tbody></table>\n</section>\n";
}

std::string waivers_section(const Summary& summary) {
    if (summary.waivers.empty()) return "";
    std::string text = section_start({"waivers", "Waivers"});
    text += "<p>Mismatches that somebody has signed for. A waived case is no pass.</p>\n"
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Waivers\">"
            "<table class=\"prose-table\"><thead><tr><th scope=\"col\">standing</th>"
            "<th scope=\"col\" class=\"right\">cases</th><th scope=\"col\">device</th>"
            "<th scope=\"col\">cases and mismatch</th><th scope=\"col\">until</th>"
            "<th scope=\"col\">owner</th><th scope=\"col\">reason</th></tr></thead><tbody>\n";
    for (const WaiverUse& use : summary.waivers) {
        const results::Waiver& waiver = *use.waiver;
        text += "<tr><td>" + escape_markup(use.standing) +
                "</td><td class=\"right\" data-label=\"cases\">" + number(use.cases) +
                "</td><td data-label=\"device\"><code>" + escape_markup(waiver.device) +
                "</code></td><td><code>" + escape_markup(waiver.case_pattern) + "</code>, " +
                escape_markup(waiver.mismatch_class) + "</td><td data-label=\"until\">" +
                escape_markup(waiver.expires) + "</td><td data-label=\"owner\">" +
                escape_markup(waiver.owner) + "</td><td>" + escape_markup(waiver.reason) +
                "<br><span class=\"soft\">" + escape_markup(waiver.link) +
                "</span></td></tr>\n";
    }
    return text + "</tbody></table></div>\n</section>\n";
}

std::string not_run_section(const Run& run, const Summary& summary) {
    std::string text = section_start({"not-run", "What was not run"});
    if (!run.complete || run.cases.size() < run.header.case_count)
        text += "<p>The run stopped after " + number(run.cases.size()) + " of " +
                number(run.header.case_count) + " cases.</p>\n";
    if (summary.not_run.empty())
        return text + "<p>Every case that was reached compared bits.</p>\n</section>\n";
    text += "<table class=\"prose-table\"><thead><tr><th scope=\"col\">verdict</th>"
            "<th scope=\"col\">operation</th><th scope=\"col\" class=\"right\">cases</th>"
            "<th scope=\"col\">reason</th></tr></thead><tbody>\n";
    for (const NotRun& group : summary.not_run)
        text += "<tr><td>" + tag(group.verdict) + "</td><td>" + escape_markup(group.operation) +
                "</td><td class=\"right\" data-label=\"cases\">" + number(group.cases) +
                "</td><td>" + or_unsaid(group.reason) + "</td></tr>\n";
    return text + "</tbody></table>\n</section>\n";
}

std::string environment_section(const RunHeader& header) {
    return section_start({"environment", "Environment"}) + "<h3>Device</h3>\n<p><code>" +
           escape_markup(header.device) + "</code></p>\n" + pairs(header.device_facts) +
           "<h3>Run</h3>\n" + pairs(run_fields(header)) + "<h3>Machine and build</h3>\n" +
           pairs(header.environment) + "<h3>Tables of the oracle</h3>\n" +
           pairs(header.table_hashes) + "</section>\n";
}

std::string cases_section(const Run& run) {
    std::string text = section_start({"cases", "Cases"});
    const bool lists_all = run.cases.size() <= listed_cases_max;
    std::string rows;
    std::size_t listed = 0;
    for (const CaseResult& result : run.cases) {
        if (!lists_all && is_a_plain_pass(result)) continue;
        rows += case_row(result);
        ++listed;
    }
    if (!lists_all)
        text += "<p>" + counted(run.cases.size() - listed, "passing case") +
                " not listed, for the run has more than " + grouped(listed_cases_max) +
                "; the results file holds them all.</p>\n";
    if (listed == 0) return text + "<p>There is no case to list.</p>\n</section>\n";
    return text + "<details><summary>" + counted(listed, "case") +
           (lists_all ? "" : " that did not plainly pass") +
           "</summary>\n<p class=\"needs-script\"><label>Show only cases with "
           "<input type=\"search\" id=\"case-filter\"></label> "
           "<span class=\"soft\" id=\"case-shown\" role=\"status\"></span></p>\n"
           "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Cases\">"
           "<table class=\"cases\"><thead><tr><th scope=\"col\" class=\"right\">index</th>"
           "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
           "<th scope=\"col\" class=\"right\">elements</th>"
           "<th scope=\"col\" class=\"right\">scales</th>"
           "<th scope=\"col\" class=\"right\">differ</th></tr></thead>\n"
           "<tbody id=\"case-rows\">\n" +
           rows + "</tbody></table></div></details>\n</section>\n";
}

}  // namespace mx::reports::html
