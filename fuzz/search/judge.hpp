// Who says whether a device's answer is right. The search knows a judge and no device: the program
// gives it one that asks a device and holds its bits against the oracle.
#pragma once

#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "conformance/results/record.hpp"

namespace mx::fuzz {

enum class Outcome {
    clean,
    refused,    // the device does not do that
    deviation,  // differs only where the dialect's source leaves the answer open
    wrong,      // bits, or memory that the device must not touch
    crash,
    timeout,
    error,      // the device said so, or does not open any more
    own_fault,  // the oracles disagree
    unasked,    // our side could not: no memory, a case without data
};

struct Judgement {
    Outcome outcome = Outcome::clean;
    std::string reason;
    std::vector<results::Mismatch> mismatches;  // binding ones; block and lane are of the case
};

class Judge {
public:
    virtual ~Judge() = default;
    // False only if the device says that it does not do this; true is followed by judge.
    virtual bool supports(const Case& c) = 0;
    // `inputs` are those of inputs_of(c).
    virtual Judgement judge(const Case& c, const std::vector<CodeTensor>& inputs) = 0;
    // The device forgets what it was asked before.
    virtual void restart() = 0;
};

inline bool is_find(Outcome outcome) {
    return outcome == Outcome::wrong || outcome == Outcome::crash || outcome == Outcome::timeout ||
           outcome == Outcome::error || outcome == Outcome::own_fault;
}

}  // namespace mx::fuzz
