// A baseline: an earlier run whose passes are a promise. What passed in it and is now not
// supported, not run or open is worse, and the run ends as one that found a mismatch. Used by
// campaigns and by merge.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/session/outcome.hpp"
#include "reference/base/status.hpp"

namespace mx::session {

struct PassedCase {
    std::string case_text;
    results::Verdict verdict;
};

struct Baseline {
    std::string folder;              // as the user named it
    std::vector<PassedCase> passed;  // each case once; what deviated or was waived, too
};

// From the record in a folder. As error: one that was interrupted, or in which nothing passed, for
// it promises nothing that anybody could rely on.
Expected<Baseline> baseline_of(const std::string& folder);

// Of a complete, whole run: writes what is worse into its footer. Returns `outcome`, or mismatch if
// something is and nothing worse was found.
Outcome judge_baseline(const Baseline& baseline, results::Run& run, Outcome outcome);

}  // namespace mx::session
