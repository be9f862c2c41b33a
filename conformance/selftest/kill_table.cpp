// See kill_table.hpp.
#include "conformance/selftest/kill_table.hpp"

#include <algorithm>

#include "conformance/mutants/gemm_acceptance.hpp"
#include "conformance/results/attachments.hpp"
#include "conformance/selftest/grid.hpp"

namespace mx::selftest {
namespace {

std::string_view word_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::killed:
            return "killed";
        case Outcome::killed_on_edges:
            return "edges";
        case Outcome::missed:
            return "missed";
        case Outcome::not_asked:
            return "-";
    }
    return "";
}

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

Cells kill_cells(const Row& row) {
    const auto& kill = row.hunt.kill;
    if (kill)
        return {row.subject.name,
                kill->level,
                kill->suite,
                kill->verdict,
                or_dash(kill->mismatch_class),
                std::string(cause_word(row)),
                kill->case_text};
    if (!row.fault.empty()) return {row.subject.name, "NOT TRIED", "-", "-", "-", "-", row.fault};
    return {row.subject.name, "SURVIVED", "-", "-", "-", "-", "shows on: " + row.subject.shows_on};
}

Grid kill_grid(const KillTable& table) {
    Grid grid{{"planted bug", "killed at", "suite", "verdict", "class", "cause", "by the case"},
              {}};
    for (const Row& row : table.rows) grid.rows.push_back(kill_cells(row));
    for (const Row& row : table.real_scales.rows) grid.rows.push_back(kill_cells(row));
    for (const Row& row : table.gemm.rows) grid.rows.push_back(kill_cells(row));
    for (const Row& row : table.gpu.rows)
        grid.rows.push_back(table.gpu.not_run.empty() ? kill_cells(row)
                                                      : Cells{row.subject.name, "not run", "-", "-",
                                                              "-", "-", table.gpu.not_run});
    return grid;
}

// What is said of rules of acceptance, whatever they look at.
struct RuleText {
    std::string name;
    std::string source;
    std::string inputs;
};
std::vector<RuleText> rules_of_blocks() {
    std::vector<RuleText> texts;
    for (const acceptance::Rule& rule : acceptance::rules())
        texts.push_back(
            {std::string(rule.name), std::string(rule.source), std::string(rule.inputs)});
    return texts;
}
std::vector<RuleText> rules_of_gemm() {
    std::vector<RuleText> texts;
    for (const acceptance::GemmRule& rule : acceptance::gemm_rules())
        texts.push_back({std::string(rule.name), std::string(rule.source), "normal, quantized"});
    return texts;
}

Grid rule_grid(const std::vector<Row>& rows, const std::vector<RuleText>& rules) {
    Grid grid{{"planted bug", "this harness"}, {}};
    for (const RuleText& rule : rules) grid.head.push_back(rule.name);
    for (const Row& row : rows) {
        Cells cells{row.subject.name, row.hunt.kill ? "killed" : "MISSED"};
        for (const Outcome outcome : row.outcomes) cells.emplace_back(word_of(outcome));
        cells.resize(grid.head.size());
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

struct RuleCount {
    std::size_t killed = 0;           // on the project's own data
    std::size_t killed_on_edges = 0;  // besides, on our edge blocks
    std::size_t asked = 0;
};

RuleCount count_of(const std::vector<Row>& rows, std::size_t rule) {
    RuleCount count;
    for (const Row& row : rows) {
        if (rule >= row.outcomes.size() || row.outcomes[rule] == Outcome::not_asked) continue;
        ++count.asked;
        if (row.outcomes[rule] == Outcome::killed) ++count.killed;
        if (row.outcomes[rule] == Outcome::killed_on_edges) ++count.killed_on_edges;
    }
    return count;
}

std::size_t killed_of(const std::vector<Row>& rows) {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const Row& row) { return row.hunt.kill.has_value(); }));
}

std::string killed_text(const std::vector<Row>& rows) {
    return std::to_string(killed_of(rows)) + " of " + std::to_string(rows.size());
}

bool is_of_gpu_alone(const KillTable& table) {
    return table.rows.empty() && table.real_scales.rows.empty() && table.gemm.rows.empty() &&
           !table.gpu.rows.empty();
}

// One sentence a rule, this harness first.
std::vector<std::string> totals(const KillTable& table) {
    std::vector<std::string> lines{"this harness: " + killed_text(table.rows)};
    const auto rules = rules_of_blocks();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const RuleCount count = count_of(table.rows, i);
        const std::string of = " of " + std::to_string(count.asked);
        lines.push_back(rules[i].name + " (" + rules[i].inputs +
                        "): " + std::to_string(count.killed) + of +
                        " bugs of MXFP8 blocks; given our edge blocks as well " +
                        std::to_string(count.killed + count.killed_on_edges) + of);
    }
    return lines;
}
std::vector<std::string> gemm_totals(const KillTable& table) {
    std::vector<std::string> lines{"this harness: " + killed_text(table.gemm.rows)};
    const auto rules = rules_of_gemm();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const RuleCount count = count_of(table.gemm.rows, i);
        lines.push_back(rules[i].name + " (" + rules[i].inputs + "): " +
                        std::to_string(count.killed) + " of " + std::to_string(count.asked));
    }
    return lines;
}

constexpr std::string_view legend =
    "The rules are models of other projects' tests of MXFP8, written from their sources, with both "
    "formats, dialects and axes to their advantage: killed on data as that project uses it; edges, "
    "only on our edge blocks; missed; - the bug is not one of dense MXFP8 blocks, so the rule is "
    "not asked.";
constexpr std::string_view gemm_legend =
    "The rules are models of other projects' tests of matrix products, written from their sources: "
    "killed or missed on normal random numbers, quantized, in products of several kinds (MX and "
    "FP8, batches, alpha, C, bias, relu, bfloat16 and binary16), against the exact sums; where a "
    "rule rejects the right bits too, its answer does not count.";

// A table of rules with what belongs to it.
struct RuleSection {
    std::string_view title;
    std::string_view legend;
    Grid grid;
    std::vector<std::string> totals;
};
std::vector<RuleSection> sections_of(const KillTable& table) {
    std::vector<RuleSection> sections;
    if (!table.rows.empty() || table.gemm.rows.empty())
        sections.push_back({"The same bugs judged by rules in use elsewhere", legend,
                            rule_grid(table.rows, rules_of_blocks()), totals(table)});
    if (!table.gemm.rows.empty())
        sections.push_back({"Those of a GEMM judged by rules in use elsewhere", gemm_legend,
                            rule_grid(table.gemm.rows, rules_of_gemm()), gemm_totals(table)});
    return sections;
}

std::string clean_line(const std::string& what, const CleanCheck& check) {
    if (!check.complaint.empty()) return what + ": " + check.complaint;
    return what + ": " + std::to_string(check.cases) + " cases, " + std::to_string(check.elements) +
           " elements and " + std::to_string(check.scales) + " scales, every bit as expected";
}

std::string canary_line(const std::string& what, const CanaryCheck& check) {
    if (!check.complaint.empty()) return what + ": " + check.complaint;
    return what + ": failed all of its " + std::to_string(check.failed) + " smoke cases";
}

// "causes named: 90 right, 0 wrong, 10 not explained"; "" where nobody asked.
std::string cause_line(const KillTable& table) {
    std::size_t right = 0, wrong = 0, unexplained = 0;
    for (const auto* rows :
         {&table.rows, &table.real_scales.rows, &table.gemm.rows, &table.gpu.rows})
        for (const Row& row : *rows) {
            const std::string_view word = cause_word(row);
            right += word == "right" ? 1 : 0;
            wrong += word == "wrong" ? 1 : 0;
            unexplained += word == "unexplained" ? 1 : 0;
        }
    if (right + wrong + unexplained == 0) return "";
    return "causes named: " + std::to_string(right) + " right, " + std::to_string(wrong) +
           " wrong, " + std::to_string(unexplained) + " not explained";
}

std::vector<std::string> check_lines(const KillTable& table) {
    std::vector<std::string> lines;
    if (!is_of_gpu_alone(table))
        lines = {clean_line("the base without a bug", table.base),
                 clean_line("the oracle as a device", table.oracle),
                 canary_line("the canary", table.canary)};
    const auto add_cast = [&lines](const CastTable& cast, const std::string& whose) {
        if (cast.rows.empty()) return;
        lines.push_back(clean_line("the base of those of " + whose, cast.base));
        lines.push_back(canary_line("the canary of those of " + whose, cast.canary));
    };
    add_cast(table.real_scales, "real scales");
    add_cast(table.gemm, "a GEMM");
    if (!table.gpu.not_run.empty())
        lines.push_back("the planted bugs of a GPU were not run: " + table.gpu.not_run);
    else if (!table.gpu.rows.empty())
        lines.push_back(clean_line("the base of those of a GPU", table.gpu.base));
    if (std::string causes = cause_line(table); !causes.empty()) lines.push_back(std::move(causes));
    return lines;
}

std::string gpu_summary(const GpuTable& gpu) {
    if (!gpu.not_run.empty()) return std::to_string(gpu.rows.size()) + " not run";
    return "killed " + killed_text(gpu.rows) +
           (gpu.base.complaint.empty() ? ", clean base passed" : ", clean base did NOT pass");
}

std::string cast_summary(const CastTable& cast) {
    return "killed " + killed_text(cast.rows) +
           (cast.canary.complaint.empty() ? ", canary failed"
                                          : ", canary did NOT fail as it must") +
           (cast.base.complaint.empty() ? ", clean base passed" : ", clean base did NOT pass");
}

results::PlantedBug bug_of(const Row& row, const std::vector<RuleText>& rules) {
    results::PlantedBug bug;
    bug.name = row.subject.name;
    bug.description = row.subject.description;
    bug.shows_on = row.subject.shows_on;
    bug.cases = row.hunt.cases;
    bug.killed = row.hunt.kill.has_value();
    if (const auto& kill = row.hunt.kill)
        bug.kill = {kill->level,          kill->suite,     kill->verdict,
                    kill->mismatch_class, kill->case_text, kill->reason};
    bug.fault = row.fault;
    if (const auto& cause = row.hunt.cause) {
        bug.cause = cause_word(row);
        bug.cause_sentence = cause->sentence;
        bug.cause_kinds = cause->kinds;
    }
    bug.does = row.subject.does;
    for (std::size_t i = 0; i < row.outcomes.size(); ++i)
        bug.rules[rules[i].name] = word_of(row.outcomes[i]);
    return bug;
}

results::CleanRun clean_run_of(const CleanCheck& check) {
    return {check.complaint.empty(), check.cases, check.elements, check.scales, check.complaint};
}

results::CanaryRun canary_run_of(const CanaryCheck& check) {
    return {check.failed, check.complaint};
}

results::KillGroup group_of(const std::vector<Row>& rows, const std::vector<RuleText>& rules) {
    results::KillGroup group;
    group.planted = rows.size();
    group.killed = killed_of(rows);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const RuleCount count = count_of(rows, i);
        group.rules.push_back({rules[i].name, rules[i].source, rules[i].inputs, count.asked,
                               count.killed, count.killed_on_edges});
    }
    for (const Row& row : rows) group.bugs.push_back(bug_of(row, rules));
    return group;
}

results::KillGroup group_of(const CastTable& cast, const std::vector<RuleText>& rules) {
    results::KillGroup group = group_of(cast.rows, rules);
    group.base = clean_run_of(cast.base);
    group.canary = canary_run_of(cast.canary);
    return group;
}

results::KillGroup group_of(const GpuTable& gpu) {
    results::KillGroup group = group_of(gpu.rows, {});
    const bool was_run = gpu.not_run.empty();
    group.not_run = was_run ? 0 : gpu.rows.size();
    group.reason = gpu.not_run;
    if (was_run) group.base = clean_run_of(gpu.base);
    for (results::PlantedBug& bug : group.bugs) bug.not_run = !was_run;
    return group;
}

}  // namespace

std::string_view cause_word(const Row& row) {
    if (!row.hunt.kill || !row.hunt.cause) return "-";
    const std::vector<std::string>& named = row.hunt.cause->kinds;
    if (named.empty()) return "unexplained";
    // "A | B" says the same twice; "A + B" is two faults at once.
    const auto parts = [](const std::string& kinds) {
        std::vector<std::string> list{""};
        for (std::size_t at = 0; at < kinds.size(); ++at) {
            const std::string between = kinds.substr(at, 3);
            if (between == " | " || between == " + ") {
                list.emplace_back();
                at += 2;
            } else {
                list.back() += kinds[at];
            }
        }
        return list;
    };
    const std::vector<std::string> declared = parts(row.subject.does);
    const auto is_declared = [&](const std::string& kind) {
        return std::ranges::find(declared, kind) != declared.end();
    };
    const bool is_right = std::ranges::all_of(named, [&](const std::string& kinds) {
        return std::ranges::any_of(parts(kinds), is_declared);
    });
    return is_right ? "right" : "wrong";
}

std::vector<std::string> problems_of(const KillTable& table) {
    std::vector<std::string> problems;
    for (const std::string* complaint :
         {&table.base.complaint, &table.oracle.complaint, &table.canary.complaint,
          &table.real_scales.base.complaint, &table.real_scales.canary.complaint,
          &table.gemm.base.complaint, &table.gemm.canary.complaint, &table.gpu.base.complaint})
        if (!complaint->empty()) problems.push_back(*complaint);
    std::vector<Row> tried = table.rows;
    for (const CastTable* cast : {&table.real_scales, &table.gemm})
        tried.insert(tried.end(), cast->rows.begin(), cast->rows.end());
    if (table.gpu.not_run.empty())
        tried.insert(tried.end(), table.gpu.rows.begin(), table.gpu.rows.end());
    for (const Row& row : tried) {
        if (!row.fault.empty())
            problems.push_back(row.fault);
        else if (!row.hunt.kill)
            problems.push_back(row.subject.name + " survived " + std::to_string(row.hunt.cases) +
                               " cases of level " + table.level + "; " + row.subject.description +
                               "; it shows on: " + row.subject.shows_on);
    }
    if (tried.empty() && table.gpu.rows.empty())
        problems.push_back("there was no planted bug to kill");
    return problems;
}

std::string summary_line(const KillTable& table) {
    if (is_of_gpu_alone(table)) return "planted bugs of a GPU: " + gpu_summary(table.gpu);
    std::string line = "killed " + killed_text(table.rows) + " planted bugs; canary ";
    line += table.canary.complaint.empty() ? "failed" : "did NOT fail as it must";
    line += table.base.complaint.empty() ? ", clean base passed" : ", clean base did NOT pass";
    if (!table.oracle.complaint.empty()) line += ", the oracle as a device did NOT pass";
    if (!table.real_scales.rows.empty())
        line += "; of real scales: " + cast_summary(table.real_scales);
    if (!table.gemm.rows.empty()) line += "; of a GEMM: " + cast_summary(table.gemm);
    if (!table.gpu.rows.empty()) line += "; of a GPU: " + gpu_summary(table.gpu);
    return line;
}

std::string render_text(const KillTable& table) {
    std::string text = aligned(kill_grid(table)) + "\n";
    if (!is_of_gpu_alone(table)) {
        for (const RuleSection& section : sections_of(table)) {
            text.append(aligned(section.grid)).append("\n").append(section.legend).append("\n");
            for (const std::string& line : section.totals) text += "  " + line + "\n";
            text += "\n";
        }
    }
    for (const std::string& line : check_lines(table)) text += line + "\n";
    return text + summary_line(table) + "\n";
}

std::string render_markdown(const KillTable& table) {
    std::string text =
        "# Kill table, level " + table.level + "\n\n**" + summary_line(table) + "**\n\n";
    for (const std::string& problem : table.problems) text += "- " + problem + "\n";
    text +=
        "\n" + markdown(kill_grid(table)) +
        "\nA kill can be seen again with `mxcheck replay 'CASE' --device mutants.so:bug=NAME`, one "
        "of real scales, a GEMM or a GPU with real_scale_mutants.so, gemm_mutants.so or "
        "gpu_mutants.so and the name behind `real_scale_`, `gemm_` or `gpu_`.\n";
    if (!is_of_gpu_alone(table)) {
        for (const RuleSection& section : sections_of(table)) {
            text.append("\n## ").append(section.title).append("\n\n").append(section.legend);
            text.append("\n\n").append(markdown(section.grid)).append("\n");
            for (const std::string& line : section.totals) text += "- " + line + "\n";
        }
    }
    text += "\n## The harness itself\n\n";
    for (const std::string& line : check_lines(table)) text += "- " + line + "\n";
    return text;
}

std::string render_json(const KillTable& table) {
    results::KillMatrix kills;
    kills.level = table.level;
    kills.passed = table.problems.empty();
    kills.summary = summary_line(table);
    kills.problems = table.problems;
    if (is_of_gpu_alone(table)) {
        kills.blocks = group_of(table.rows, {});
    } else {
        kills.blocks = group_of(table.rows, rules_of_blocks());
        kills.blocks.base = clean_run_of(table.base);
        kills.blocks.canary = canary_run_of(table.canary);
        kills.oracle_as_device = clean_run_of(table.oracle);
    }
    if (!table.real_scales.rows.empty()) kills.real_scales = group_of(table.real_scales, {});
    if (!table.gemm.rows.empty()) kills.gemm = group_of(table.gemm, rules_of_gemm());
    kills.gpu = group_of(table.gpu);
    return results::json_text(kills) + "\n";
}

}  // namespace mx::selftest
