// The GEMM cases that the planted bugs stand before: those of the suites that their base answers,
// and cases of our own under the models that the base follows, because what an accumulator does
// shows under a model alone. Used by the self-test; asks no device.
#pragma once

#include "conformance/selftest/trial.hpp"

namespace mx::selftest {

// Whether the base answers such a case at all, and the case does not hold it to another machine.
bool gemm_bugs_answer(const Case& c);

// The table's own words: a bug of another machine says so first, and is asked what that machine
// multiplies; one of a machine of which nothing is known only what is held to a bound.
bool is_gemm_bug_asked(const Subject& bug, const Case& c);

// As plan_by_level. Our own cases open the last level, and belong to the suite "selftest".
Expected<std::vector<LevelCases>> plan_gemm(const std::string& level, Sources& sources);

}  // namespace mx::selftest
