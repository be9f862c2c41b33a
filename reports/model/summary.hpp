// What a run amounts to: counts, the pass matrix, clusters, what was not run, and the one sentence
// on top. Used by every renderer, so that no two pages can disagree. Must not know any format of
// output.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx::reports {

using results::Verdict;

struct Totals {
    std::uint64_t cases = 0;
    std::uint64_t empty = 0;  // of them passed without an element or a scale to compare
    std::uint64_t elements = 0, scales = 0;  // compared
    std::uint64_t mismatched_elements = 0, mismatched_scales = 0;
};

// How often each verdict occurred.
class VerdictCounts {
public:
    void add(Verdict verdict) { ++counts_.at(static_cast<std::size_t>(verdict)); }
    std::uint64_t of(Verdict verdict) const {
        return counts_.at(static_cast<std::size_t>(verdict));
    }
    std::uint64_t all() const;
    std::uint64_t passing() const;  // those that may stand in a passing run
    // The one that matters most to a reader; pass_exact when nothing was counted.
    Verdict worst() const;

private:
    std::array<std::uint64_t, results::verdict_count> counts_{};
};

// The verdicts from the one a reader must see first to the one that needs no look.
inline constexpr std::array<Verdict, results::verdict_count> verdicts_by_severity{
    Verdict::oracle_disagreement, Verdict::crash,         Verdict::timeout,
    Verdict::device_error,        Verdict::fail,          Verdict::flaky,
    Verdict::insufficient_data,   Verdict::untested,      Verdict::waived,
    Verdict::deviation,           Verdict::not_supported, Verdict::pass_bounded,
    Verdict::pass_exact,
};

// 0 for the most severe.
std::size_t severity_rank(Verdict verdict);

// Rows: operation and format. Columns: dialect and input type. In the order of the run's cases.
struct Matrix {
    struct Column {
        std::string dialect, input;
        bool operator==(const Column&) const = default;
    };
    struct Row {
        std::string operation, format;
        std::vector<VerdictCounts> cells;  // one per column; all() is 0 where the run had no case
    };
    std::vector<Column> columns;
    std::vector<Row> rows;
};

// Where a case stands in the matrix.
struct CellPlace {
    std::size_t row = 0, column = 0;
    bool operator==(const CellPlace&) const = default;
};

// Like mismatches of like cases, or like cases that ended without a mismatch to show (a crash).
// The pointers lead into the run that was summarised.
struct Cluster {
    Verdict verdict = Verdict::fail;
    CellPlace place;
    const results::CaseResult* first_case = nullptr;
    const results::Mismatch* witness = nullptr;  // null when there is no mismatch to show
    std::string repro{};                         // a whole command line, for the first case
    std::uint64_t cases = 0;
    std::uint64_t count = 0, of = 0;     // elements or scales, summed over the cases
    std::vector<std::uint64_t> lanes{};  // summed, or empty when nobody counted
};

// Cases that compared nothing, by reason.
struct NotRun {
    Verdict verdict = Verdict::not_supported;
    std::string operation, reason;
    std::uint64_t cases = 0;
};

// A freedom of the standard and what the device made of it.
struct OpenDecision {
    std::string decision;
    std::uint64_t cases = 0;
    std::uint64_t count = 0;  // elements or scales
    const results::CaseResult* example = nullptr;
};

// A waiver, and what the run made of it.
struct WaiverUse {
    const results::Waiver* waiver = nullptr;
    std::uint64_t cases = 0;  // that it excuses
    std::string standing;     // its state, or "not needed" where a whole run had no use for it
};

enum class Outcome {
    conformant,      // complete, at a conformance level, nothing but passing verdicts
    clean,           // nothing but passing verdicts, but no conformance run
    incomplete,      // nothing wrong so far; the run stopped early, or tested less than demanded
    nothing_tested,  // no bits were compared
    worse,           // nothing failed, but something passed in the baseline that does not pass here
    not_conformant,
};

struct Summary {
    Outcome outcome = Outcome::nothing_tested;
    std::string headline;              // one line
    std::string cause;                 // of all that is wrong, one sentence; "" if none is told
    std::vector<std::string> caveats;  // must stand on top of every page; empty if there is none
    Totals totals;
    VerdictCounts verdicts;
    Matrix matrix;
    std::vector<CellPlace> places;  // of each case of the run
    std::vector<Cluster> clusters;  // most severe first, then largest
    std::vector<NotRun> not_run;
    std::vector<OpenDecision> deviations;
    std::vector<WaiverUse> waivers;  // all that were given, in their order

    bool conformant() const { return outcome == Outcome::conformant; }
};

// The summary points into `run`.
Summary summarize(const results::Run& run);
Summary summarize(results::Run&&) = delete;

}  // namespace mx::reports
