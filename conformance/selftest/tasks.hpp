// The self-test's work in pieces, several at once, each in a process of its own that sends back
// what it found as a line of JSON. Which piece is whose follows from the list alone, and findings
// are taken in its order, so the table is the same however many processes there are. Used by the
// self-test; prints nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/selftest/trial.hpp"
#include "reference/base/status.hpp"

namespace mx::selftest {

// What a piece of work found: that part of it that the piece is about.
struct Finding {
    Hunt hunt = {};
    std::vector<Outcome> outcomes = {};  // of a bug, by the rules of an audit
    std::string fault = {};              // why a bug could not be tried, "" if it was
    CleanCheck clean = {};
    CanaryCheck canary = {};
};

// Both ways are one list of keys. The error names the key that is wrong.
std::string line_of(const Finding& finding);
Expected<Finding> finding_of(const std::string& line);

struct Task {
    std::string name;                   // what goes on meanwhile
    std::size_t steps = 1;              // how long that takes, beside the others
    std::function<Finding()> run;       // in another process
    std::function<void(Finding)> take;  // in this one
};

// Does them with `jobs` processes; `begins` and `ends` are told of each in its turn. The calling
// process must have no other thread. The error is the machine's: no process starts, or one is ended
// from outside.
Status run_tasks(const std::vector<Task>& tasks, std::size_t jobs,
                 const std::function<void(const Task&)>& begins,
                 const std::function<void(const Task&)>& ends);

}  // namespace mx::selftest
