// See wall_page.hpp.
#include "reports/render/wall_page.hpp"

#include "reports/render/escape.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports {
namespace {

using results::Finding;
using results::WallRecord;
using results::WallRow;

constexpr std::string_view explanation =
    "Equal: every byte as the row of the table of quantizers says. Equal but for open decisions: "
    "what differs is left open by the row's source, or by the standard. A difference is a fault "
    "of the library, of the row that is held against it, or of neither: a library without a row "
    "of its own is held to a neighbour's. The findings say which.";

std::string_view tone_of(const WallRow& row) {
    const std::string_view word = word_of(row);
    return word == "equal" ? "good" : word == "differs" ? "bad" : "note";
}

std::string escaped_row(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + escape_markdown(cell) + " |";
    return text + "\n";
}

bool is_asked(const WallRow& row) {
    return row.verdict != "not_supported";
}

std::string detail_markdown(const WallRecord& record) {
    std::string text =
        "\n### " + escape_markdown(record.library) + "\n\n" + escape_markdown(version_of(record)) +
        "; " + escape_markdown(record.place) + ", " + escape_markdown(record.date) +
        "; compared by commit " + escape_markdown(record.mxcheck) +
        "\n\n| verdict | operation | format or factors | dialect or model | open decisions | "
        "inputs | axes | bytes | "
        "elements differ | scales differ |\n|---|---|---|---|---|---|---|---|---|---|\n";
    for (const WallRow& row : record.rows) {
        if (!is_asked(row)) continue;
        std::vector<std::string> cells = cells_of(row);
        cells.insert(cells.begin(), std::string(word_of(row)));
        text += escaped_row(cells);
    }
    return text;
}

std::string detail_table(const WallRecord& record) {
    html::Table table(escape_markup(record.library + ", " + record.run_again),
                      {{"verdict"},
                       {"operation"},
                       {"format or factors"},
                       {"dialect or model"},
                       {"open decisions"},
                       {"inputs"},
                       {"axes"},
                       {"bytes", true},
                       {"elements differ"},
                       {"scales differ"}});
    for (const WallRow& row : record.rows) {
        if (!is_asked(row)) continue;
        std::vector<std::string> cells;
        for (const std::string& cell : cells_of(row)) cells.push_back(html::shown(cell));
        cells.insert(cells.begin(), "<span class=\"tag " + std::string(tone_of(row)) + "\">" +
                                        std::string(word_of(row)) + "</span>");
        table.add(cells);
    }
    return "<h2>" + escape_markup(record.library) + "</h2>\n<p class=\"soft\">" +
           escape_markup(version_of(record)) + "; " + escape_markup(record.place) + ", " +
           escape_markup(record.date) + "; again: <code>" + escape_markup(record.run_again) +
           "</code></p>\n" + table.markup();
}

std::string summary_table(const Wall& wall) {
    html::Table table("All", {{"who"},
                              {"vendor"},
                              {"version"},
                              {"place"},
                              {"date"},
                              {"verdicts"},
                              {"bytes", true},
                              {"again"}});
    for (const WallRecord& record : wall.records) {
        std::vector<std::string> cells;
        for (const std::string& cell : cells_of(record)) cells.push_back(html::shown(cell));
        table.add(cells);
    }
    return "<h2>All</h2>\n" + table.markup();
}

std::string findings_table(const Wall& wall) {
    html::Table table("Findings", {{"library"},
                                   {"what"},
                                   {"witness"},
                                   {"right"},
                                   {"theirs"},
                                   {"what it does to a user"},
                                   {"seen"},
                                   {"reported"}});
    for (const Finding& finding : wall.findings)
        table.add({escape_markup(finding.library) + " " + escape_markup(finding.versions),
                   html::shown(finding.what), html::shown(finding.witness),
                   html::shown(finding.expected), html::shown(finding.actual),
                   html::shown(finding.effect), html::shown(finding.seen),
                   html::shown(finding.reported)});
    return "<h2 id=\"findings\">Findings</h2>\n" + table.markup();
}

std::string head() {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>mxcheck wall</title>\n"
           "<style>" +
           std::string(html::style_sheet()) + "</style>\n</head>\n<body>\n";
}

}  // namespace

std::string render_wall_html(const Wall& wall) {
    std::string text = head() + "<header>\n<h1>The wall</h1>\n</header>\n<main>\n<p>" +
                       escape_markup(sentence_of(wall)) + "</p>\n<p>" + escape_markup(explanation) +
                       "</p>\n" + summary_table(wall) + findings_table(wall);
    for (const WallRecord& record : wall.records) text += detail_table(record);
    return text + "</main>\n</body>\n</html>\n";
}

std::string render_wall_markdown(const Wall& wall) {
    std::string text =
        "# The wall: libraries and devices, held to the rows that describe them\n\n" +
        escape_markdown(sentence_of(wall)) +
        " [Findings](findings.md). Made by `mxcheck report "
        "--wall reports/wall` from `records/` and `findings.json`; the same in HTML is "
        "wall.html.\n\n" +
        escape_markdown(explanation) +
        "\n\n| who | vendor | version | place | date | verdicts | bytes | again |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const WallRecord& record : wall.records) text += escaped_row(cells_of(record));
    for (const WallRecord& record : wall.records) text += detail_markdown(record);
    return text;
}

std::string render_findings_markdown(const Wall& wall) {
    std::string text =
        "# Findings: differences that are faults\n\nEach with its smallest witness; codes of "
        "binary32 and bytes in hexadecimal. Made by `mxcheck report --wall reports/wall` from "
        "findings.json. Libraries that have a rule of their own without a fault stand on the "
        "[wall](README.md).\n";
    for (const Finding& finding : wall.findings) {
        text += "\n## " + escape_markdown(finding.library) + ": " + escape_markdown(finding.what) +
                "\n\n";
        const std::pair<std::string_view, const std::string&> lines[] = {
            {"Versions", finding.versions}, {"Witness", finding.witness},
            {"Right", finding.expected},    {"Theirs", finding.actual},
            {"Effect", finding.effect},     {"Seen", finding.seen},
            {"Reported", finding.reported}};
        for (const auto& [name, value] : lines)
            text += "- " + std::string(name) + ": " + escape_markdown(value) + "\n";
    }
    return text;
}

}  // namespace mx::reports
