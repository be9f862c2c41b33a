// What a run amounts to. Used by every renderer through summary.hpp. Must not know any format of
// output.
#include "reports/model/summary.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "reports/model/clusters.hpp"
#include "reports/model/phrases.hpp"

namespace mx::reports {
namespace {

using results::CaseResult;
using results::Run;

constexpr std::string_view whole_shard = "0/1";

bool runs_every_suite(std::string_view suites) {
    return suites.empty() || suites == "*" || suites == "all";
}

Totals totals_of(const Run& run) {
    Totals totals;
    for (const CaseResult& result : run.cases) {
        ++totals.cases;
        const bool is_equal = worth_of(result.verdict) == results::Worth::passes;
        totals.empty += is_equal && result.elements + result.scales == 0 ? 1 : 0;
        totals.elements += result.elements;
        totals.scales += result.scales;
        totals.mismatched_elements += result.mismatched_elements;
        totals.mismatched_scales += result.mismatched_scales;
    }
    return totals;
}

template <typename Item, typename Matches>
std::size_t position_of(std::vector<Item>& items, Item fresh, Matches matches) {
    const auto found = std::find_if(items.begin(), items.end(), matches);
    if (found != items.end()) return static_cast<std::size_t>(found - items.begin());
    items.push_back(std::move(fresh));
    return items.size() - 1;
}

// Columns of one dialect stand together, whatever the order of the cases.
void gather_by_dialect(std::vector<Matrix::Column>& columns) {
    std::vector<std::string> dialects;
    for (const Matrix::Column& column : columns)
        if (std::find(dialects.begin(), dialects.end(), column.dialect) == dialects.end())
            dialects.push_back(column.dialect);
    const auto rank = [&](const Matrix::Column& column) {
        return std::find(dialects.begin(), dialects.end(), column.dialect) - dialects.begin();
    };
    std::stable_sort(columns.begin(), columns.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

struct PlacedMatrix {
    Matrix matrix;
    std::vector<CellPlace> places;  // of each case
};

PlacedMatrix matrix_of(const Run& run) {
    PlacedMatrix placed;
    Matrix& matrix = placed.matrix;
    for (const CaseResult& result : run.cases) {
        const Matrix::Column column{result.dialect, result.input};
        position_of(matrix.columns, column, [&](const auto& each) { return each == column; });
    }
    gather_by_dialect(matrix.columns);
    for (const CaseResult& result : run.cases) {
        const Matrix::Column column{result.dialect, result.input};
        CellPlace place;
        place.column =
            position_of(matrix.columns, column, [&](const auto& each) { return each == column; });
        place.row =
            position_of(matrix.rows,
                        Matrix::Row{result.operation, result.format,
                                    std::vector<VerdictCounts>(matrix.columns.size())},
                        [&](const Matrix::Row& row) {
                            return row.operation == result.operation && row.format == result.format;
                        });
        matrix.rows[place.row].cells[place.column].add(result.verdict);
        placed.places.push_back(place);
    }
    return placed;
}

std::vector<NotRun> not_run_of(const Run& run) {
    std::vector<NotRun> groups;
    std::map<std::tuple<Verdict, std::string_view, std::string_view>, std::size_t> places;
    for (const CaseResult& result : run.cases) {
        if (result.verdict != Verdict::not_supported && result.verdict != Verdict::untested)
            continue;
        const auto [found, is_new] =
            places.try_emplace({result.verdict, result.operation, result.reason}, groups.size());
        if (is_new) groups.push_back({result.verdict, result.operation, result.reason, 0});
        ++groups[found->second].cases;
    }
    return groups;
}

bool is_whole(const Run& run);

bool is_worse(const std::string& unmet) {
    return unmet.starts_with(results::worse_than_baseline);
}
std::string text_of_unmet(const std::string& unmet) {
    return (is_worse(unmet) ? "" : "INCOMPLETE: ") + unmet + ".";
}

std::vector<WaiverUse> waivers_of(const Run& run) {
    std::vector<WaiverUse> uses;
    for (const results::Waiver& waiver : run.header.waivers)
        uses.push_back({&waiver, 0, waiver.state});
    for (const CaseResult& result : run.cases)
        for (const std::uint64_t place : result.waivers) ++uses.at(place - 1).cases;
    const bool is_decided = is_whole(run) && run.header.shard == whole_shard;
    for (WaiverUse& use : uses)
        if (is_decided && use.cases == 0 && use.standing == results::waiver_states.front())
            use.standing = "not needed";
    return uses;
}

bool is_whole(const Run& run) {
    return run.complete && run.cases.size() == run.header.case_count;
}

std::vector<std::string> caveats_of(const Run& run) {
    std::vector<std::string> caveats;
    const auto no_conformance_run = [&](const std::string& why) {
        caveats.push_back(std::string(results::not_a_conformance_run) + ": " + why);
    };
    if (!is_whole(run))
        caveats.push_back("INTERRUPTED: " + grouped(run.cases.size()) + " of " +
                          counted(run.header.case_count, "case") +
                          " were run; nothing is known of the others.");
    for (const std::string& unmet : run.footer.unmet) caveats.push_back(text_of_unmet(unmet));
    if (!run.footer.close_fault.empty())
        caveats.push_back("DEVICE FAULT: " + run.footer.close_fault + ".");
    if (!results::is_conformance_level(run.header.level))
        no_conformance_run("level " + run.header.level + "; only full and exhaustive are.");
    if (run.header.shard != whole_shard)
        no_conformance_run("shard " + run.header.shard + " alone.");
    if (!runs_every_suite(run.header.suites))
        no_conformance_run("only suites that match " + run.header.suites + ".");
    return caveats;
}

Outcome outcome_of(const Run& run, const Summary& summary) {
    const std::uint64_t unjudged = summary.verdicts.of(Verdict::insufficient_data);
    const bool has_fault = summary.verdicts.passing() + unjudged != summary.verdicts.all();
    if (has_fault || !run.footer.close_fault.empty()) return Outcome::not_conformant;
    if (std::ranges::any_of(run.footer.unmet, is_worse)) return Outcome::worse;
    if (unjudged != 0 && is_whole(run)) return Outcome::incomplete;
    if (summary.totals.elements + summary.totals.scales == 0) return Outcome::nothing_tested;
    if (!is_whole(run) || !run.footer.unmet.empty()) return Outcome::incomplete;
    return summary.caveats.empty() ? Outcome::conformant : Outcome::clean;
}

// "2 fail, 1 crash"
std::string list_of_failing(const VerdictCounts& verdicts) {
    std::string list;
    for (const Verdict verdict : verdicts_by_severity) {
        const bool is_fault = !results::may_pass(verdict) && verdict != Verdict::insufficient_data;
        if (!is_fault || verdicts.of(verdict) == 0) continue;
        if (!list.empty()) list += ", ";
        list += grouped(verdicts.of(verdict)) + " " + words_of(verdict);
    }
    return list;
}

// "all of 136 cases pass, 4 of them deviate where the source is silent; 256 not supported". A case
// that the device does not support, or that a waiver excuses, or that has no element, has not
// passed.
std::string passing_phrase(const Summary& summary) {
    const std::uint64_t refused = summary.verdicts.of(Verdict::not_supported);
    const std::uint64_t deviating = summary.verdicts.of(Verdict::deviation);
    const std::uint64_t waived = summary.verdicts.of(Verdict::waived);
    const std::uint64_t empty = summary.totals.empty;
    const std::uint64_t unjudged = summary.verdicts.of(Verdict::insufficient_data);
    const std::uint64_t judged = summary.totals.cases - refused - waived - empty - unjudged;
    if (unjudged != 0 && judged == 0)
        return "insufficient data in " + counted(unjudged, "case") + ", nothing else was judged";
    std::string phrase = (unjudged == 0 ? ""
                                        : "insufficient data in " + counted(unjudged, "case") +
                                              ", which shows nothing; ") +
                         "all of " + counted(judged, unjudged == 0 ? "case" : "other case") +
                         (refused == 0 ? "" : " that the device supports") +
                         (waived == 0    ? ""
                          : refused == 0 ? " without a waiver"
                                         : " unwaived") +
                         " pass";
    if (deviating != 0)
        phrase += ", " + grouped(deviating) + " of them deviating where the source is silent";
    if (waived != 0) phrase += "; " + grouped(waived) + " WAIVED";
    if (empty != 0) phrase += "; " + grouped(empty) + " with nothing to compare";
    return refused == 0 ? phrase : phrase + "; " + grouped(refused) + " not supported";
}

std::string insufficient_phrase(const VerdictCounts& verdicts) {
    const std::uint64_t unjudged = verdicts.of(Verdict::insufficient_data);
    return unjudged == 0 ? "" : ", insufficient data in " + grouped(unjudged);
}

std::string not_conformant_phrase(const Run& run, const Summary& summary) {
    const std::string& fault = run.footer.close_fault;
    const std::uint64_t failing = summary.verdicts.all() - summary.verdicts.passing() -
                                  summary.verdicts.of(Verdict::insufficient_data);
    return "Not conformant: " + (fault.empty() ? "" : fault + "; ") +
           (failing == 0 ? passing_phrase(summary)
                         : grouped(failing) + " of " + counted(summary.totals.cases, "case") +
                               " did not pass (" + list_of_failing(summary.verdicts) + ")" +
                               insufficient_phrase(summary.verdicts));
}

std::string verdict_phrase(const Run& run, const Summary& summary) {
    const std::string cases = counted(summary.totals.cases, "case");
    switch (summary.outcome) {
        case Outcome::conformant:
            return "Conformant: " + passing_phrase(summary);
        case Outcome::clean:
            return "No fault found: " + passing_phrase(summary);
        case Outcome::incomplete:
            return is_whole(run) ? "Incomplete: " + passing_phrase(summary)
                                 : "Interrupted: no fault found in " + cases;
        case Outcome::nothing_tested:
            return "Nothing was tested in " + cases;
        case Outcome::worse:
            return "Worse than before: " + passing_phrase(summary);
        case Outcome::not_conformant:
            break;
    }
    return not_conformant_phrase(run, summary);
}

// Does all that differs hang on open decisions?
bool is_all_open(const VerdictCounts& verdicts) {
    return verdicts.of(Verdict::waived) == 0 && verdicts.passing() == verdicts.all();
}

// A case within its bound need not have equal bits, and is not said to.
std::string comparison_phrase(const Summary& summary) {
    const Totals& totals = summary.totals;
    if (totals.elements + totals.scales == 0) return "nothing was compared";
    const std::string elements = counted(totals.elements, "element");
    const std::string scales = counted(totals.scales, "scale");
    const std::uint64_t exact = summary.verdicts.of(Verdict::pass_exact);
    const std::uint64_t bounded = summary.verdicts.of(Verdict::pass_bounded);
    const std::string within = counted(bounded, "case") + " within a derived bound";
    if (totals.mismatched_elements + totals.mismatched_scales != 0)
        return grouped(totals.mismatched_elements) + " of " + elements + " and " +
               grouped(totals.mismatched_scales) + " of " + scales + " differ" +
               (is_all_open(summary.verdicts) ? ", none of them binding" : "") +
               (bounded == 0 ? "" : ", and " + within);
    if (bounded == 0) return elements + " and " + scales + " compared bit for bit, all equal";
    return elements + " and " + scales + " compared: " +
           (exact == 0 ? "" : counted(exact, "case") + " bit for bit, all equal, and ") + within;
}

std::string headline_of(const Run& run, const Summary& summary) {
    std::string line = verdict_phrase(run, summary) + "; " + comparison_phrase(summary) +
                       "; level " + run.header.level + ".";
    if (!is_whole(run))
        line += " INTERRUPTED after " + grouped(run.cases.size()) + " of " +
                counted(run.header.case_count, "case") + ".";
    for (const std::string& unmet : run.footer.unmet) line += " " + text_of_unmet(unmet);
    const bool limited =
        std::any_of(summary.caveats.begin(), summary.caveats.end(), [](const std::string& caveat) {
            return caveat.rfind(results::not_a_conformance_run, 0) == 0;
        });
    if (limited) line += " " + std::string(results::not_a_conformance_run) + ".";
    return line;
}

}  // namespace

std::uint64_t VerdictCounts::all() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t VerdictCounts::passing() const {
    std::uint64_t count = 0;
    for (const Verdict verdict : verdicts_by_severity)
        if (results::may_pass(verdict)) count += of(verdict);
    return count;
}

Verdict VerdictCounts::worst() const {
    for (const Verdict verdict : verdicts_by_severity)
        if (of(verdict) != 0) return verdict;
    return Verdict::pass_exact;
}

std::size_t severity_rank(Verdict verdict) {
    return static_cast<std::size_t>(
        std::find(verdicts_by_severity.begin(), verdicts_by_severity.end(), verdict) -
        verdicts_by_severity.begin());
}

Summary summarize(const Run& run) {
    Summary summary;
    PlacedMatrix placed = matrix_of(run);
    summary.totals = totals_of(run);
    for (const CaseResult& result : run.cases) summary.verdicts.add(result.verdict);
    summary.clusters = clusters_of(run, placed.places);
    summary.matrix = std::move(placed.matrix);
    summary.places = std::move(placed.places);
    summary.not_run = not_run_of(run);
    summary.deviations = deviations_of(run);
    summary.waivers = waivers_of(run);
    summary.caveats = caveats_of(run);
    summary.outcome = outcome_of(run, summary);
    summary.headline = headline_of(run, summary);
    summary.cause = run.footer.cause;
    return summary;
}

}  // namespace mx::reports
