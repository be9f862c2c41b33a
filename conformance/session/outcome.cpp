// See outcome.hpp.
#include "conformance/session/outcome.hpp"

namespace mx::session {

Outcome outcome_of(std::span<const results::CaseResult> cases, bool complete) {
    using results::Verdict;
    bool mismatch = false, device = false, self = false, is_unjudged = false;
    std::uint64_t compared = 0;
    for (const results::CaseResult& result : cases) {
        compared += result.elements + result.scales;
        switch (result.verdict) {
            case Verdict::fail:
            case Verdict::flaky:
                mismatch = true;
                break;
            case Verdict::crash:
            case Verdict::timeout:
            case Verdict::device_error:
                device = true;
                break;
            case Verdict::oracle_disagreement:
                self = true;
                break;
            case Verdict::untested:
            case Verdict::insufficient_data:
                is_unjudged = true;
                break;
            default:
                break;
        }
    }
    if (self) return Outcome::own_fault;
    if (device) return Outcome::device_fault;
    if (mismatch) return Outcome::mismatch;
    if (!complete || is_unjudged) return Outcome::incomplete;
    return compared == 0 ? Outcome::nothing_tested : Outcome::conformant;
}

Outcome outcome_of(const results::Run& run, bool complete) {
    const Outcome outcome = outcome_of(run.cases, complete);
    const bool is_sound = run.footer.close_fault.empty() || outcome == Outcome::own_fault;
    return is_sound ? outcome : Outcome::device_fault;
}

}  // namespace mx::session
