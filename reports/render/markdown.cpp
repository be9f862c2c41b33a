// A short text for a pull request: the verdict, the matrix, the largest clusters. Used by the
// program; a pure function of the run. Must not touch files.
#include "reports/render/markdown.hpp"

#include <algorithm>

#include "reports/model/phrases.hpp"
#include "reports/model/summary.hpp"
#include "reports/render/escape.hpp"

namespace mx::reports {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Run;

// A comment in a pull request is read, not searched; hosts cut it at 65,536 characters.
constexpr std::size_t clusters_shown_max = 8;
constexpr std::size_t reasons_shown_max = 20;

std::string or_dash(const std::string& text) {
    return text.empty() ? "–" : escape_markdown(text);
}

std::string bold(std::string_view markdown) {
    std::string text("**");
    return text.append(markdown).append("**");
}

std::string cell(std::string_view markdown) {
    std::string text(" ");
    return text.append(markdown).append(" |");
}

std::string top(const Run& run, const Summary& summary) {
    std::string text;
    for (const std::string& caveat : summary.caveats)
        text.append("> ").append(bold(escape_markdown(caveat))).append("\n>\n");
    if (!text.empty()) text += "\n";
    text += "## mxcheck: " + escape_markdown(run.header.device) + "\n\n" +
            (summary.cause.empty() ? "" : bold(escape_markdown(summary.cause)) + "\n\n") +
            bold(escape_markdown(summary.headline)) +
            "\n\n| verdict | cases | meaning |\n"
            "| --- | ---: | --- |\n";
    for (const Verdict verdict : verdicts_by_severity)
        if (summary.verdicts.of(verdict) != 0)
            text += "| " + words_of(verdict) + " | " + grouped(summary.verdicts.of(verdict)) +
                    " | " + std::string(meaning_of(verdict)) + " |\n";
    return text + "\n";
}

std::string cell_text(const VerdictCounts& cell) {
    if (cell.all() == 0) return "–";
    const Verdict worst = cell.worst();
    std::string text(short_word_of(worst));
    if (!results::may_pass(worst)) text = bold(text);
    text.append(" ").append(grouped(cell.of(worst)));
    if (cell.of(worst) != cell.all()) text.append("/").append(grouped(cell.all()));
    return text;
}

std::string matrix_text(const Matrix& matrix) {
    if (matrix.rows.empty()) return "No case was run.\n\n";
    std::string text = "### Pass matrix\n\n| operation | format |", rule = "\n| --- | --- |";
    for (const Matrix::Column& column : matrix.columns) {
        text += cell(or_dash(column.dialect) + " " + or_dash(column.input));
        rule += " --- |";
    }
    text += rule + "\n";
    for (const Matrix::Row& row : matrix.rows) {
        text.append("|").append(cell(or_dash(row.operation))).append(cell(or_dash(row.format)));
        for (const VerdictCounts& counts : row.cells) text += cell(cell_text(counts));
        text += "\n";
    }
    return text + "\n";
}

std::string sides(const std::string& name, const std::string& expected, const std::string& actual) {
    if (expected.empty() && actual.empty()) return "";
    if (expected == actual) return ", " + name + " " + markdown_code_span(expected) + " equal";
    return ", " + name + " " + (actual.empty() ? "none" : markdown_code_span(actual)) +
           " expected " + (expected.empty() ? "none" : markdown_code_span(expected));
}

std::string witness_text(const Cluster& cluster) {
    const Mismatch& witness = *cluster.witness;
    std::string text = "First at " + place_of(*cluster.first_case, witness);
    if (!witness.input_bits.empty()) {
        text += ": input " + markdown_code_span(witness.input_bits);
        if (!witness.input_value.empty()) text += " (" + escape_markdown(witness.input_value) + ")";
    }
    text += sides("scale", witness.expected_scale, witness.actual_scale);
    text += sides("element", witness.expected_element, witness.actual_element);
    if (!witness.exact_value.empty()) text += ", exact " + escape_markdown(witness.exact_value);
    return text + ".\n\n";
}

std::string cluster_text(const Cluster& cluster) {
    const CaseResult& first = *cluster.first_case;
    std::string text = bold(words_of(cluster.verdict)) + " " + or_dash(first.operation) + " " +
                       or_dash(first.format) + " " + or_dash(first.dialect) + " " +
                       or_dash(first.input);
    const Mismatch* witness = cluster.witness;
    if (witness == nullptr)
        return text + ", " + counted(cluster.cases, "case") + ". " + escape_markdown(first.reason) +
               "\n\n" + markdown_code_block(cluster.repro) + "\n";
    text += ", " + escape_markdown(witness->stage + "/" + witness->mismatch_class) + ", " +
            escape_markdown(witness->direction) + ": " + grouped(cluster.count) + " of " +
            grouped(cluster.of) + (witness->stage == "scale" ? " scales" : " elements") + " in " +
            counted(cluster.cases, "case") + ".";
    if (!witness->open_decision.empty())
        text += " Open decision: " + escape_markdown(witness->open_decision) + ".";
    if (!witness->note.empty()) text.append(" ").append(escape_markdown(witness->note));
    text.append("\n").append(witness_text(cluster));
    return text + markdown_code_block(cluster.repro) + "\n";
}

std::string clusters_text(const Summary& summary) {
    if (summary.clusters.empty()) return "";
    std::string text = "### Clusters\n\n";
    const std::size_t shown = std::min(summary.clusters.size(), clusters_shown_max);
    for (std::size_t position = 0; position < shown; ++position)
        text += cluster_text(summary.clusters[position]);
    if (shown < summary.clusters.size())
        text += counted(summary.clusters.size() - shown, "more cluster") +
                " in the HTML page and the results file.\n\n";
    return text;
}

std::string not_run_text(const Summary& summary) {
    if (summary.not_run.empty()) return "";
    std::string text = "### Not run\n\n";
    const std::size_t shown = std::min(summary.not_run.size(), reasons_shown_max);
    for (std::size_t position = 0; position < shown; ++position) {
        const NotRun& group = summary.not_run[position];
        text += "- " + words_of(group.verdict) + ", " + or_dash(group.operation) + ", " +
                counted(group.cases, "case") + ": " +
                (group.reason.empty() ? "no reason given" : escape_markdown(group.reason)) + "\n";
    }
    if (shown < summary.not_run.size())
        text += "- and " + counted(summary.not_run.size() - shown, "more reason") + "\n";
    return text + "\n";
}

std::string waivers_text(const Summary& summary) {
    if (summary.waivers.empty()) return "";
    std::string text =
        "### Waivers\n\n| standing | cases | device | case pattern | mismatch | until | owner | "
        "reason | link |\n| --- | ---: | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const WaiverUse& use : summary.waivers) {
        const results::Waiver& waiver = *use.waiver;
        text += "|" + cell(escape_markdown(use.standing)) + cell(grouped(use.cases));
        for (const std::string& part :
             {waiver.device, waiver.case_pattern, results::mismatches_of(waiver), waiver.expires,
              waiver.owner, waiver.reason, waiver.link})
            text += cell(or_dash(part));
        text += "\n";
    }
    return text + "\n";
}

std::string bottom(const Run& run) {
    std::string text = "mxcheck " + escape_markdown(run.header.program_version) + ", commit " +
                       escape_markdown(run.header.commit) +
                       (run.header.dirty ? " with uncommitted changes" : "") + ", seed " +
                       std::to_string(run.header.seed) + ", " + escape_markdown(run.header.started);
    if (run.complete) text += ", " + duration(run.footer.seconds);
    return text + ", results format version " + std::to_string(run.header.version) + ".\n";
}

}  // namespace

std::string render_markdown(const Material& material) {
    const Run& run = material.run;
    const Summary summary = summarize(run);
    return top(run, summary) + matrix_text(summary.matrix) + clusters_text(summary) +
           waivers_text(summary) + not_run_text(summary) + bottom(run);
}

}  // namespace mx::reports
