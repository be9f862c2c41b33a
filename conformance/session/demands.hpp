// Demands: what a run must have tested to count. Without them a device that supports less and less
// stays as green as before. Used by campaigns and by merge.
#pragma once

#include <string>
#include <vector>

#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "conformance/session/outcome.hpp"
#include "reference/base/status.hpp"

namespace mx::session {

// As --require and --max-not-supported say it.
struct DemandOptions {
    std::vector<std::string> require = {};  // FORMAT/OPERATION, wildcards allowed
    std::string max_not_supported = {};     // a whole number; "" without
};

// As the header of a record holds them. `cases` are those of the whole run, whatever the shard; a
// pattern that fits none of them is an error.
Expected<std::vector<results::Field>> demands_of(const DemandOptions& options,
                                                 const std::vector<PlannedCase>& cases);

// Of a complete, whole run: writes the demands that it does not meet into its footer. A pattern is
// met when of each FORMAT/OPERATION that it fits bits of one case at least were compared. Returns
// `outcome`, or incomplete if a demand is not met and nothing worse was found.
Outcome judge_demands(results::Run& run, Outcome outcome);

}  // namespace mx::session
