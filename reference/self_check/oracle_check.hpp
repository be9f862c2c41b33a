// Both oracles, asked for answers typed by hand before anybody believes them: a compiler that
// miscompiles one must not become a verdict on a device. Used by whoever answers with them, in this
// process or in a child of it; knows neither processes nor commands.
#pragma once

#include <span>
#include <string>

namespace mx {

// One part of one oracle. Returns "" if all is right, otherwise what was wrong.
struct OracleCheck {
    std::string name;  // "exact decode"
    std::string (*run)();
};
std::span<const OracleCheck> oracle_checks();

// How many answers each oracle gives there.
int oracle_answer_count();

// As check.run, with an exception as something wrong.
std::string outcome_of(const OracleCheck& check);

// "GNU 13.3.0 with -O3 -DNDEBUG ..."
extern const char* const oracle_built_by;

// One sentence: that this build's oracle is broken, how, and what built it.
std::string broken_oracle(const std::string& what_is_wrong);

// The sentence of the first check that fails, "" if none does. All run here.
std::string fault_of_oracle(std::span<const OracleCheck> checks);

// The same for the checks of this build, which run at the first call only, as that call wants them
// run.
using FaultFinder = std::string (*)(std::span<const OracleCheck> checks);
const std::string& oracle_fault(FaultFinder find = fault_of_oracle);

}  // namespace mx
