// The check of the oracle in a forked child, where a crash, a hang or memory without end are one
// more way to be wrong. Used by the program before any command that asks the oracle.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "reference/self_check/oracle_check.hpp"

namespace mx {

// Processor time is what a hang is known by: a busy machine gives a right oracle little of it. One
// that waits for ever uses none, so time has a limit too, far beyond what a busy machine needs.
struct CheckLimits {
    std::chrono::seconds processor{2};
    std::chrono::seconds time{60};
};

// "" if all checks find nothing, otherwise the sentence of broken_oracle. Where this process has
// threads or cannot fork, the checks run in it.
std::string fault_in_child(std::span<const OracleCheck> checks, const CheckLimits& limits);

// oracle_fault, found so.
const std::string& isolated_oracle_fault();

}  // namespace mx
