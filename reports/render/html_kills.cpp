// The kill matrix of the HTML page: the planted bugs against this harness and other rules. Used by
// html.cpp. Must not know the other sections.
#include <algorithm>

#include "reports/model/phrases.hpp"
#include "reports/render/html_parts.hpp"

namespace mx::reports::html {
namespace {

using results::KillMatrix;
using results::PlantedBug;

std::string marked(std::string_view tone, const std::string& word) {
    return "<span class=\"kill " + std::string(tone) + "\">" + shown(word) + "</span>";
}

std::string rule_cell(const PlantedBug& bug, const std::string& rule) {
    const auto found = bug.rules.find(rule);
    if (found == bug.rules.end() || found->second == "-") return "–";
    const std::string& word = found->second;
    return marked(word == "killed" ? "good" : word == "edges" ? "note" : "bad", word);
}

std::string own_cell(const PlantedBug& bug) {
    if (bug.not_run) return marked("mute", "not run");
    return bug.killed ? marked("good", "killed") : marked("bad", "SURVIVED");
}

std::vector<std::string> rules_of(const std::vector<PlantedBug>& bugs) {
    std::vector<std::string> rules;
    for (const PlantedBug& bug : bugs)
        for (const auto& [rule, word] : bug.rules)
            if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
    return rules;
}

struct Group {
    std::string title, id;  // id: of the count, on the page
    const std::vector<PlantedBug>& bugs;
};

std::string group_text(const Group& group) {
    if (group.bugs.empty()) return "";
    const std::vector<std::string> rules = rules_of(group.bugs);
    std::vector<Column> columns{{"bug"}, {"this harness"}, {"class"}, {"first caught by"}};
    for (const std::string& rule : rules) columns.push_back({shown(rule)});
    Table table(group.title, columns);
    std::uint64_t killed = 0;
    for (const PlantedBug& bug : group.bugs) {
        killed += bug.killed ? 1 : 0;
        if (table.is_full()) continue;
        std::vector<std::string> cells{
            "<b>" + shown(bug.name) + "</b><br><span class=\"soft\">" + shown(bug.description) +
                "</span>",
            own_cell(bug), bug.kill ? or_dash(bug.kill->mismatch_class) : "–",
            bug.kill ? "<code class=\"small\">" + shown(bug.kill->case_text) + "</code>" : "–"};
        for (const std::string& rule : rules) cells.push_back(rule_cell(bug, rule));
        table.add(cells);
    }
    return "<h3>" + group.title + ": <span id=\"" + group.id + "\">" + number(killed) +
           "</span> of " + number(group.bugs.size()) + " killed</h3>\n" +
           folded("Each bug", table.markup()) + rows_left(group.bugs.size(), table);
}

}  // namespace

std::string kills_section(const Page& page) {
    std::string text;
    std::size_t table = 0;
    for (const KillMatrix& kills : page.attached().kills) {
        const std::string id = "killed-" + std::to_string(++table) + "-";
        text += "<p>Bugs planted on purpose, and whether level " + shown(kills.level) +
                " of this harness catches them; beside it models of other projects' acceptance "
                "rules. " +
                shown(kills.summary) + ".</p>\n";
        for (const std::string& problem : kills.problems)
            text += "<p class=\"caution\">" + shown(problem) + "</p>\n";
        text += group_text({"Planted bugs of blocks", id + "block", kills.blocks.bugs});
        if (kills.real_scales)
            text += group_text({"Planted bugs of scales that have a mantissa", id + "real_scales",
                                kills.real_scales->bugs});
        if (kills.gemm)
            text += group_text({"Planted bugs of a matrix product", id + "gemm", kills.gemm->bugs});
        if (kills.gpu) text += group_text({"Planted bugs of a GPU", id + "gpu", kills.gpu->bugs});
    }
    return text;
}

}  // namespace mx::reports::html
