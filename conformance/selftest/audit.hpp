// The planted bugs of MXFP8 before other projects' rules of acceptance. Every rule gets the benefit
// of the doubt: both formats, dialects and axes, and an answer of the rule counts only where it
// accepts the right bits. Used by the self-test. Prints nothing.
#pragma once

#include <vector>

#include "conformance/mutants/acceptance_rules.hpp"
#include "conformance/selftest/audit_data.hpp"
#include "conformance/selftest/subjects.hpp"
#include "device/host/client.hpp"

namespace mx::selftest {

enum class Outcome {
    killed,           // on the data that the rule's own project uses
    killed_on_edges,  // only on our edge blocks
    missed,
    not_asked,  // the bug is elsewhere, see concerns_mxfp8_blocks
};

class Audit {
public:
    static Expected<Audit> prepare(Sources& sources);

    // One outcome for each of acceptance::rules(). A crash or a hang is a kill by every rule whose
    // data brings it about. The error is our own: the device does not open, or the host fails.
    Expected<std::vector<Outcome>> judge(const Subject& subject, const Limits& limits) const;

private:
    struct Task {
        Sample sample;
        std::vector<std::size_t> rules;  // that are asked about it
        bool is_edge = false;            // then block by block
    };
    std::vector<Task> tasks_;  // the projects' own data first

    static Status judge_task(const Task& task, const Client& client,
                             std::vector<Outcome>& outcomes);
};

}  // namespace mx::selftest
