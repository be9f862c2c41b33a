// One self-contained page that opens from disk without a network. Used by the program; a pure
// function of the run. Must not touch files.
#include "reports/render/html.hpp"

#include <array>

#include "reports/model/phrases.hpp"
#include "reports/model/summary.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports {
namespace html {

namespace {

using results::Field;
using results::Run;

std::string_view tone_of_outcome(Outcome outcome) {
    switch (outcome) {
        case Outcome::conformant:
            return "good";
        case Outcome::worse:
        case Outcome::not_conformant:
            return "bad";
        case Outcome::clean:
        case Outcome::incomplete:
        case Outcome::nothing_tested:
            break;
    }
    return "note";
}

// What the device calls itself, or failing that what the user called it.
std::string device_name(const Run& run) {
    for (const Field& fact : run.header.device_facts)
        if (fact.key == "name" && !fact.value.empty() && fact.value != "unknown") return fact.value;
    return run.header.device;
}

std::string page_head(const Run& run) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
           "form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<meta name=\"generator\" content=\"mxcheck " +
           escape_markup(run.header.program_version) + "\">\n<title>" +
           escape_markup(device_name(run)) + " – mxcheck conformance report</title>\n<style>" +
           std::string(style_sheet()) + "</style>\n</head>\n<body>\n";
}

std::string caveat_list(const Summary& summary) {
    if (summary.caveats.empty()) return "";
    std::string text = "<ul class=\"caveats\">\n";
    for (const std::string& caveat : summary.caveats)
        text += "<li>" + escape_markup(caveat) + "</li>\n";
    return text + "</ul>\n";
}

struct Figure {
    std::string id, name, markup;
};

std::string figure_list(const Run& run, const Summary& summary) {
    const Totals& totals = summary.totals;
    const std::vector<Figure> figures{
        {"total-cases", "cases run", number(totals.cases)},
        {"total-elements", "elements compared", number(totals.elements)},
        {"total-scales", "scales compared", number(totals.scales)},
        {"total-mismatched-elements", "elements that differ", number(totals.mismatched_elements)},
        {"total-mismatched-scales", "scales that differ", number(totals.mismatched_scales)},
        {"run-level", "level", escape_markup(run.header.level)},
        {"run-time", "time",
         run.complete ? escape_markup(duration(run.footer.seconds)) : "interrupted"},
    };
    std::string text = "<dl class=\"figures\">\n";
    for (const Figure& figure : figures)
        text += "<div><dt>" + figure.name + "</dt><dd id=\"" + figure.id + "\">" + figure.markup +
                "</dd></div>\n";
    return text + "</dl>\n";
}

std::string verdict_table(const Summary& summary) {
    std::string text =
        "<table class=\"prose-table\" id=\"verdicts\"><thead><tr>"
        "<th scope=\"col\">verdict</th><th scope=\"col\" class=\"right\">cases</th>"
        "<th scope=\"col\">meaning</th></tr></thead><tbody>\n";
    for (const Verdict verdict : verdicts_by_severity) {
        const std::uint64_t count = summary.verdicts.of(verdict);
        if (count == 0) continue;
        text += "<tr><td><span class=\"tag " + std::string(tone_of(verdict)) + "\">" +
                words_of(verdict) +
                "</span></td><td class=\"right\" data-label=\"cases\" "
                "data-verdict=\"" +
                std::string(results::name_of(verdict)) + "\">" + number(count) + "</td><td>" +
                std::string(meaning_of(verdict)) + "</td></tr>\n";
    }
    return text + "</tbody></table>\n";
}

struct Section {
    std::string_view id, title;
    std::string (*body)(const Page& page);
};

// In the order of the page. What has nothing to say is left out.
constexpr std::array sections{
    Section{"matrix", "Pass matrix", matrix_section},
    Section{"heat", "Where the mismatches are", heat_section},
    Section{"clusters", "Clusters", clusters_section},
    Section{"baseline", "Changes since the baseline", baseline_section},
    Section{"accuracy", "Accuracy", accuracy_section},
    Section{"scales", "Scales", scales_section},
    Section{"gemm", "GEMM error against its bound", gemm_section},
    Section{"training", "Training", training_section},
    Section{"throughput", "Throughput", throughput_section},
    Section{"kills", "Kill matrix", kills_section},
    Section{"deviations", "Deviations", deviations_section},
    Section{"waivers", "Waivers", waivers_section},
    Section{"not-run", "What was not run", not_run_section},
    Section{"environment", "Environment", environment_section},
    Section{"cases", "Cases", cases_section},
};

std::string body_of(const Page& page) {
    std::string contents, text;
    for (const Section& section : sections) {
        const std::string body = section.body(page);
        if (body.empty()) continue;
        const std::string id(section.id), title(section.title);
        contents += "<li><a href=\"#" + id + "\">" + title + "</a></li>";
        text += "<section id=\"" + id + "\" aria-labelledby=\"" + id + "-title\">\n<h2 id=\"" + id +
                "-title\">" + title + "</h2>\n" + body + "</section>\n";
    }
    return "<nav aria-label=\"Contents\"><ul>" + contents + "</ul></nav>\n" + text;
}

std::string top(const Run& run, const Summary& summary) {
    std::string text = "<header>\n" + caveat_list(summary) +
                       "<p class=\"kicker\">mxcheck conformance report, OCP Microscaling formats"
                       "</p>\n<h1>" +
                       escape_markup(device_name(run)) +
                       "</h1>\n"
                       "<p class=\"soft\"><code>" +
                       escape_markup(run.header.device) + "</code>, " +
                       escape_markup(run.header.started) +
                       "</p>\n</header>\n"
                       "<main>\n";
    if (!summary.cause.empty())
        text += "<p id=\"cause\" class=\"verdict " + std::string(tone_of_outcome(summary.outcome)) +
                "\">" + escape_markup(summary.cause) + "</p>\n";
    text += "<p id=\"headline\" class=\"verdict " + std::string(tone_of_outcome(summary.outcome)) +
            "\" data-conformant=\"" + (summary.conformant() ? "yes" : "no") + "\">" +
            escape_markup(summary.headline) + "</p>\n";
    text += figure_list(run, summary);
    if (!run.cases.empty()) text += verdict_table(summary);
    return text;
}

std::string bottom(const Run& run) {
    return "</main>\n<footer>\n<p>Rendered from a results file of format version " +
           std::to_string(run.header.version) + ", written by mxcheck " +
           escape_markup(run.header.program_version) + ", commit " +
           escape_markup(run.header.commit) +
           (run.header.dirty ? " with uncommitted changes" : "") +
           ".</p>\n<p>Expected bits come from mxcheck's oracles; the device never sees them.</p>\n"
           "</footer>\n<script>" +
           std::string(script()) + "</script>\n</body>\n</html>\n";
}

}  // namespace
}  // namespace html

std::string render_html(const Material& material) {
    const Summary summary = summarize(material.run);
    return html::page_head(material.run) + html::top(material.run, summary) +
           html::body_of({material, summary}) + html::bottom(material.run);
}

}  // namespace mx::reports
