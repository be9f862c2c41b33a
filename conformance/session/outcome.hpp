// What a whole run comes to, from what its cases came to.
#pragma once

#include <span>

#include "conformance/results/record.hpp"

namespace mx::session {

// The number is what the record of a run keeps as its exit code, and what the program ends with.
enum class Outcome {
    conformant = 0,
    mismatch = 1,
    bad_input = 2,  // or a disk that is full
    device_fault = 3,
    incomplete = 4,
    own_fault = 5,  // self-test failed, the oracles disagree, or this build's is broken
    nothing_tested = 77,
};
constexpr int number_of(Outcome outcome) {
    return static_cast<int>(outcome);
}

// `complete` if every planned case is among them.
Outcome outcome_of(std::span<const results::CaseResult> cases, bool complete);
// Of a run: the end of its device counts too.
Outcome outcome_of(const results::Run& run, bool complete);

}  // namespace mx::session
