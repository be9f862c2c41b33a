// The planted bugs of a GEMM before other projects' rules of acceptance, on ordinary random data:
// normal numbers, quantized. Every rule gets the benefit of the doubt: many kinds of products, and
// an answer of the rule counts only where it accepts the right bits. Used by the self-test.
#pragma once

#include <vector>

#include "conformance/selftest/audit.hpp"

namespace mx::selftest {

class GemmAudit {
public:
    static Expected<GemmAudit> prepare();

    // killed or missed by each of acceptance::gemm_rules(). A crash is a kill by all of them. The
    // error is our own.
    Expected<std::vector<Outcome>> judge(const Subject& subject, const Limits& limits) const;

private:
    struct Task {
        Case c;
        std::vector<CodeTensor> inputs;
        std::vector<double> exact;  // rounded once to the type of D
        std::vector<double> right;  // as the base has them
    };
    std::vector<Task> tasks_;

    static Status judge_task(const Task& task, const Client& client,
                             std::vector<Outcome>& outcomes);
};

}  // namespace mx::selftest
