// See contradiction.hpp.
#include "conformance/results/contradiction.hpp"

#include <algorithm>
#include <array>

#include "conformance/results/results_file.hpp"

namespace mx::results {
namespace {

// What a verdict says of the comparison behind it.
enum class Kind {
    equal,     // nothing differs
    open,      // what differs hangs on open decisions
    differs,   // something differs
    excused,   // something differs, and waivers cover it
    compared,  // the oracles disagree: anything
    nothing,   // nothing was compared
};

Kind kind_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass_exact:
        case Verdict::pass_bounded:
        case Verdict::insufficient_data:
            return Kind::equal;
        case Verdict::deviation:
            return Kind::open;
        case Verdict::fail:
        case Verdict::flaky:
            return Kind::differs;
        case Verdict::waived:
            return Kind::excused;
        case Verdict::oracle_disagreement:
            return Kind::compared;
        case Verdict::not_supported:
        case Verdict::device_error:
        case Verdict::crash:
        case Verdict::timeout:
        case Verdict::untested:
            return Kind::nothing;
    }
    return Kind::compared;
}

bool binds(const Mismatch& mismatch) {
    return mismatch.open_decision.empty();
}

std::string counts_of(const CaseResult& result) {
    return std::to_string(result.mismatched_elements) + " elements and " +
           std::to_string(result.mismatched_scales) + " scales that differ, in " +
           std::to_string(result.mismatches.size()) + " mismatches";
}

}  // namespace

std::string contradiction_of(const CaseResult& result) {
    const std::string who = "case " + std::to_string(result.index) + " is " +
                            std::string(name_of(result.verdict)) + " and ";
    const Kind kind = kind_of(result.verdict);
    const bool differs =
        result.mismatched_elements + result.mismatched_scales != 0 || !result.mismatches.empty();
    if (kind == Kind::equal && differs) return who + "has " + counts_of(result);
    if (kind == Kind::nothing && (differs || result.elements + result.scales != 0))
        return who + "has " + std::to_string(result.elements) + " elements and " +
               std::to_string(result.scales) + " scales that were compared, " + counts_of(result);
    const bool must_differ = kind == Kind::open || kind == Kind::differs || kind == Kind::excused;
    if (must_differ && result.mismatches.empty()) return who + "has no mismatch";
    if (kind == Kind::open && std::ranges::any_of(result.mismatches, binds))
        return who + "has a mismatch that hangs on no open decision";
    if ((kind == Kind::excused) != !result.waivers.empty())
        return who + (result.waivers.empty() ? "names no waiver" : "names a waiver");
    return "";
}

std::string contradiction_of(const Run& run) {
    const RunFooter& footer = run.footer;
    const std::string foot = "the footer ";
    if (run.cases.size() != run.header.case_count)
        return foot + "ends a run of " + std::to_string(run.header.case_count) + " cases after " +
               std::to_string(run.cases.size());
    if (footer.verdicts != count_cases(run.cases).verdicts)
        return foot + "counts other verdicts than the lines before it have";
    constexpr std::array good_exit_codes{0, 77};
    if (std::ranges::find(good_exit_codes, footer.exit_code) == good_exit_codes.end()) return "";
    const std::string ends = foot + "says exit code " + std::to_string(footer.exit_code) + ", ";
    for (const CaseResult& result : run.cases)
        if (!may_pass(result.verdict))
            return ends + "and case " + std::to_string(result.index) + " is " +
                   std::string(name_of(result.verdict));
    if (!footer.close_fault.empty()) return ends + "and how the device failed to close";
    if (!footer.unmet.empty()) return ends + "and what is not met";
    return "";
}

}  // namespace mx::results
