// What changed since an older run, on the HTML page. Used by html.cpp. Must not know the other
// sections.
#include "reports/model/difference.hpp"
#include "reports/model/phrases.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

std::string side(const results::CaseResult* result) {
    if (result == nullptr) return "–";
    const std::uint64_t wrong = result->mismatched_elements + result->mismatched_scales;
    return tag(result->verdict) + (wrong == 0 ? "" : " " + grouped(wrong) + " differ");
}

}  // namespace

std::string baseline_section(const Page& page) {
    if (page.material.baseline == nullptr) return "";
    const Difference difference = difference_of(*page.material.baseline, page.run());
    std::string text = "<p class=\"soft\">Beside the run of " +
                       shown(page.material.baseline->header.started) +
                       ". Cases are the same where their text is.</p>\n<dl class=\"figures\" "
                       "id=\"changes\"><div><dt>same</dt><dd>" +
                       number(difference.same) + "</dd></div>";
    for (const Change change : changes)
        text += "<div><dt>" + std::string(name_of(change)) + "</dt><dd>" +
                number(difference.of(change)) + "</dd></div>";
    text += "</dl>\n";
    Table table("Changed cases", {{"change"}, {"case"}, {"before"}, {"now"}});
    for (const ChangedCase& each : difference.cases) {
        if (table.is_full()) break;
        const results::CaseResult& known = each.after != nullptr ? *each.after : *each.before;
        table.add({std::string(name_of(each.change)), "<code>" + shown(known.case_text) + "</code>",
                   side(each.before), side(each.after)});
    }
    if (table.size() != 0) text += folded("Changed cases", table.markup());
    if (difference.cases.size() > table.size())
        text += "<p>" + counted(difference.cases.size() - table.size(), "more case") +
                " not listed here.</p>\n";
    if (difference.headers.empty()) return text;
    text += "<h3>What else differs</h3>\n<ul>";
    for (const std::string& line : difference.headers) text += "<li>" + shown(line) + "</li>";
    return text + "</ul>\n";
}

}  // namespace mx::reports::html
