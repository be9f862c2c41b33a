// Names and rules of the record: what each verdict is called and which may stand in a passing run.
// Used by everything that writes or reads a results file. Must not know the file format.
#include "conformance/results/record.hpp"

#include <array>
#include <cstddef>

namespace mx::results {
namespace {

// In the order of Verdict.
constexpr std::array<std::string_view, verdict_count> verdict_names{
    "pass_exact",    "pass_bounded", "deviation",
    "not_supported", "waived",       "insufficient_data",
    "flaky",         "fail",         "oracle_disagreement",
    "device_error",  "crash",        "timeout",
    "untested",
};
static_assert(static_cast<int>(Verdict::untested) + 1 == verdict_count);
constexpr std::string_view name_in_older_records = "mistrusted";  // of insufficient_data
static_assert(verdict_names.back() == "untested");

}  // namespace

std::string_view name_of(Verdict verdict) {
    const auto position = static_cast<std::size_t>(verdict);
    return position < verdict_names.size() ? verdict_names[position] : "unknown";
}

bool verdict_from_name(std::string_view name, Verdict& verdict) {
    for (std::size_t position = 0; position < verdict_names.size(); ++position) {
        if (verdict_names[position] != name) continue;
        verdict = static_cast<Verdict>(position);
        return true;
    }
    if (name != name_in_older_records) return false;
    verdict = Verdict::insufficient_data;
    return true;
}

bool may_pass(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass_exact:
        case Verdict::pass_bounded:
        case Verdict::deviation:
        case Verdict::not_supported:
        case Verdict::waived:
            return true;
        case Verdict::insufficient_data:
        case Verdict::flaky:
        case Verdict::fail:
        case Verdict::oracle_disagreement:
        case Verdict::device_error:
        case Verdict::crash:
        case Verdict::timeout:
        case Verdict::untested:
            return false;
    }
    return false;
}

Worth worth_of(Verdict verdict) {
    const bool is_unjudged =
        verdict == Verdict::not_supported || verdict == Verdict::insufficient_data;
    if (is_unjudged) return Worth::refused;
    if (!may_pass(verdict)) return Worth::fails;
    const bool is_open = verdict == Verdict::deviation || verdict == Verdict::waived;
    return is_open ? Worth::open : Worth::passes;
}

Verdict verdict_of(const CaseResult& result, const Mismatch& mismatch) {
    const bool is_open = result.verdict == Verdict::fail && !mismatch.open_decision.empty();
    return is_open ? Verdict::deviation : result.verdict;
}

std::string mismatches_of(const Waiver& waiver) {
    return waiver.mismatch_class + (waiver.axis.empty() ? "" : " of axis " + waiver.axis);
}

bool is_conformance_level(std::string_view level) {
    return level == "full" || level == "exhaustive";
}

}  // namespace mx::results
