// The kill table: each planted bug against this harness and against other projects' rules. Plain
// data and its three renderings; holds no clock reading, so the same build prints the same bytes.
#pragma once

#include <string>
#include <string_view>
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

// The planted bugs of one library. Of a GEMM their outcomes are of acceptance::gemm_rules(), of
// real scales there are none.
struct CastTable {
    CanaryCheck canary;
    CleanCheck base;
    std::vector<Row> rows;  // none where they are not asked
};

// The planted bugs of a GPU. Other projects' rules are not asked about them.
struct GpuTable {
    std::string not_run;  // why no row of it was tried, "" if they were
    CleanCheck base;
    std::vector<Row> rows;
};

struct KillTable {
    std::string level;
    std::vector<Row> rows;  // none where only those of a GPU are asked for
    CastTable real_scales;
    CastTable gemm;
    GpuTable gpu;
    CanaryCheck canary;
    CleanCheck base;                    // the planted bugs without a bug
    CleanCheck oracle;                  // the oracle as a device
    std::vector<std::string> problems;  // why the self-test failed; empty when it passed
};

// "right", "wrong" or "unexplained": whether every cause that is named is one that the bug
// declares; "-" of one that survived.
std::string_view cause_word(const Row& row);

// Bugs that survived, a canary that sang, a base or oracle that is not clean: one sentence each. A
// bug of a GPU that is not run for want of one is neither killed nor a problem.
std::vector<std::string> problems_of(const KillTable& table);

// "killed 44 of 44 planted bugs; canary failed, clean base passed; of real scales: killed 9 of 9,
// canary failed, clean base passed; of a GEMM: killed 52 of 52, canary failed, clean base passed;
// of a GPU: 9 not run"
std::string summary_line(const KillTable& table);

std::string render_text(const KillTable& table);
std::string render_markdown(const KillTable& table);
std::string render_json(const KillTable& table);

}  // namespace mx::selftest
