// The kill table: each planted bug against this harness and against other projects' rules. Plain
// data and its three renderings; holds no clock reading, so the same build prints the same bytes.
#pragma once

#include <string>
#include <vector>

#include "conformance/selftest/audit.hpp"
#include "conformance/selftest/trial.hpp"

namespace mx::selftest {

struct Row {
    Subject subject;
    Hunt hunt;
    std::vector<Outcome> outcomes;  // one for each of acceptance::rules(), none if not judged
    std::string fault;              // why it could not be tried, "" if it was
};

struct KillTable {
    std::string level;
    std::vector<Row> rows;
    CanaryCheck canary;
    CleanCheck base;    // the planted bugs without a bug
    CleanCheck oracle;  // the oracle as a device
    std::vector<std::string> problems;  // why the self-test failed; empty when it passed
};

// Bugs that survived, a canary that sang, a base or oracle that is not clean: one sentence each.
std::vector<std::string> problems_of(const KillTable& table);

// "killed 44 of 44 planted bugs; canary failed, clean base passed"
std::string summary_line(const KillTable& table);

std::string render_text(const KillTable& table);
std::string render_markdown(const KillTable& table);
std::string render_json(const KillTable& table);

}  // namespace mx::selftest
