// Whether this build would have caught the planted bugs: the whole self-test, as a kill table. Used
// by the command; reads no argv and prints nothing.
#pragma once

#include <functional>

#include "conformance/selftest/kill_table.hpp"

namespace mx::selftest {

// So many steps of the work are done, `name` is what goes on.
struct Step {
    std::size_t done = 0;
    std::size_t total = 0;
    std::string name;
};

struct Settings {
    std::string level = "quick";
    // For a call of a device that may be meant to hang. The one that hangs sleeps for five seconds.
    Limits patience{std::chrono::seconds(3), std::chrono::seconds(60)};
    std::function<void(const Step&)> progress = [](const Step&) {};
    bool names_causes = false;  // of each bug, which takes about twice as long
    std::size_t jobs = 1;       // processes that share the work; the table is the same with any
};

// Never stops at a failure: what failed stands in the table's problems. The error is a level that
// does not exist, cases that cannot be planned, or a process that is ended from outside. The
// calling process must have no other thread.
Expected<KillTable> run_selftest(const Subjects& subjects, const Settings& settings);

}  // namespace mx::selftest
