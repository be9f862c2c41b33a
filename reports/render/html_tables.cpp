// The plain tables of the HTML page: deviations, waivers, what was not run, environment, cases.
// Used by html.cpp. Must not know the other sections.
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

std::string or_unsaid(const std::string& text) {
    return text.empty() ? "<span class=\"soft\">no reason given</span>" : shown(text);
}

std::string code(const std::string& text) {
    return "<code>" + shown(text) + "</code>";
}

std::string pairs(const std::vector<Field>& fields) {
    if (fields.empty()) return "<p>Nothing is known.</p>\n";
    std::string text = "<dl class=\"pairs\">\n";
    for (const Field& field : fields)
        text += "<dt>" + shown(field.key) + "</dt><dd>" + shown(field.value) + "</dd>\n";
    return text + "</dl>\n";
}

std::vector<Field> run_fields(const RunHeader& header) {
    return {
        {"command", joined(header.argv, " ")},
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

std::string case_row(const CaseResult& result, CellPlace place) {
    return "<tr data-cell=\"" + std::to_string(place.row) + "-" + std::to_string(place.column) +
           "\"><td class=\"right\">" + grouped(result.index) + "</td><td>" + tag(result.verdict) +
           "</td><td class=\"text\">" + code(result.case_text) +
           (result.reason.empty() ? "" : "<br>" + shown(result.reason)) +
           "</td><td class=\"right\">" + grouped(result.elements) + "</td><td class=\"right\">" +
           grouped(result.scales) + "</td><td class=\"right\">" +
           grouped(result.mismatched_elements + result.mismatched_scales) + "</td></tr>\n";
}

bool is_a_plain_pass(const CaseResult& result) {
    return result.verdict == Verdict::pass_exact || result.verdict == Verdict::pass_bounded;
}

// What could stand beside a run, and the command that makes it.
struct Companion {
    bool is_here;
    const char* name;
    const char* command;
};

std::string missing_companions(const Page& page) {
    const results::Attachments& attached = page.attached();
    const Companion companions[] = {
        {!attached.quantize.empty(), "accuracy", "mxcheck accuracy --json &gt; DIR/accuracy.json"},
        {!attached.gemm.empty(), "accuracy of GEMM",
         "mxcheck accuracy --op gemm --json &gt; DIR/gemm_accuracy.json"},
        {!attached.training.empty(), "training", "mxcheck train --json &gt; DIR/training.json"},
        {!attached.benches.empty(), "throughput", "mxcheck bench --out DIR"},
        {!attached.kills.empty(), "the kill matrix", "mxcheck selftest --out DIR"},
    };
    std::string text;
    for (const Companion& companion : companions)
        if (!companion.is_here)
            text += "<li>" + std::string(companion.name) + ": <code>" + companion.command +
                    "</code></li>";
    if (text.empty()) return "";
    return "<p>Not measured beside this run; made in the folder of the run, they join the page "
           "with <code>mxcheck report DIR</code>:</p>\n<ul id=\"missing\">" +
           text + "</ul>\n";
}

std::string more(std::size_t count, const char* noun) {
    if (count == 0) return "";
    return "<p>" + counted(count, noun) +
           " not listed here; the results file holds them all.</p>\n";
}

}  // namespace

std::string deviations_section(const Page& page) {
    const auto& deviations = page.summary.deviations;
    if (deviations.empty())
        return "<p>None: wherever the standard leaves an answer open, the device chose as this "
               "program does.</p>\n";
    Table table("Deviations",
                {{"open decision"}, {"cases", true}, {"elements or scales", true}, {"first case"}});
    for (const OpenDecision& decision : deviations)
        if (!table.is_full())
            table.add({or_unsaid(decision.decision), number(decision.cases), number(decision.count),
                       code(decision.example->case_text)});
    return "<p>Here the dialect's source leaves the answer open. The device chose otherwise than "
           "this program; that is recorded, and is no failure.</p>\n" +
           table.markup() + more(deviations.size() - table.size(), "decision");
}

std::string waivers_section(const Page& page) {
    const auto& waivers = page.summary.waivers;
    if (waivers.empty()) return "";
    Table table("Waivers", {{"standing"},
                            {"cases", true},
                            {"device"},
                            {"cases and mismatch"},
                            {"until"},
                            {"owner"},
                            {"reason"}});
    for (const WaiverUse& use : waivers) {
        const results::Waiver& waiver = *use.waiver;
        table.add(
            {shown(use.standing), number(use.cases), code(waiver.device),
             code(waiver.case_pattern) + ", " + shown(results::mismatches_of(waiver)),
             shown(waiver.expires), shown(waiver.owner),
             shown(waiver.reason) + "<br><span class=\"soft\">" + shown(waiver.link) + "</span>"});
    }
    return "<p>Mismatches that somebody has signed for. A waived case is no pass.</p>\n" +
           table.markup();
}

std::string not_run_section(const Page& page) {
    const Run& run = page.run();
    std::string text;
    if (!run.complete || run.cases.size() < run.header.case_count)
        text += "<p>The run stopped after " + number(run.cases.size()) + " of " +
                number(run.header.case_count) + " cases.</p>\n";
    const auto& groups = page.summary.not_run;
    if (groups.empty()) {
        text += "<p>Every case that was reached compared bits.</p>\n";
    } else {
        Table table("What was not run", {{"verdict"}, {"operation"}, {"cases", true}, {"reason"}});
        for (const NotRun& group : groups)
            if (!table.is_full())
                table.add({tag(group.verdict), shown(group.operation), number(group.cases),
                           or_unsaid(group.reason)});
        text += table.markup() + more(groups.size() - table.size(), "reason");
    }
    return text + missing_companions(page);
}

std::string environment_section(const Page& page) {
    const RunHeader& header = page.run().header;
    return "<h3>Device</h3>\n<p>" + code(header.device) + "</p>\n" + pairs(header.device_facts) +
           "<h3>Run</h3>\n" + pairs(run_fields(header)) + "<h3>Machine and build</h3>\n" +
           pairs(header.environment) + "<h3>Tables of the oracle</h3>\n" +
           pairs(header.table_hashes);
}

std::string cases_section(const Page& page) {
    const Run& run = page.run();
    const bool lists_all = lists_passes(run);
    std::string rows, text;
    std::size_t listed = 0, passed = 0, left = 0;
    for (std::size_t place = 0; place < run.cases.size(); ++place) {
        const CaseResult& result = run.cases[place];
        if (!lists_all && is_a_plain_pass(result)) {
            ++passed;
        } else if (listed == cases_listed_max || rows.size() > list_bytes_max) {
            ++left;
        } else {
            rows += case_row(result, page.summary.places[place]);
            ++listed;
        }
    }
    if (passed + left != 0)
        text += "<p>" + counted(passed, "passing case") +
                (left == 0 ? "" : " and " + counted(left, "other")) +
                " not listed, for the page has room for " + grouped(cases_listed_max) +
                " or less; the results file holds them all.</p>\n";
    if (listed == 0) return text + "<p>There is no case to list.</p>\n";
    return text + "<details><summary>" + counted(listed, "case") +
           (lists_all ? "" : " that did not plainly pass") +
           "</summary>\n<p class=\"needs-script\"><label>Show only cases with "
           "<input type=\"search\" id=\"case-filter\"></label> "
           "<button type=\"button\" id=\"case-all\" hidden>Show all cells</button> "
           "<span class=\"soft\" id=\"case-shown\" role=\"status\"></span></p>\n"
           "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Cases\">"
           "<table class=\"cases\"><thead><tr><th scope=\"col\" class=\"right\">index</th>"
           "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
           "<th scope=\"col\" class=\"right\">elements</th>"
           "<th scope=\"col\" class=\"right\">scales</th>"
           "<th scope=\"col\" class=\"right\">differ</th></tr></thead>\n"
           "<tbody id=\"case-rows\">\n" +
           rows + "</tbody></table></div></details>\n";
}

}  // namespace mx::reports::html
