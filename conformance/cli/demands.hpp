// --require and --max-not-supported: what a run must have tested to count. Without them a device
// that supports less and less stays as green as before. Used by campaigns and by merge.
#pragma once

#include <string>
#include <vector>

#include "conformance/cli/arguments.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "device/host/status.hpp"

namespace mx::cli {

struct DemandOptions {
    std::vector<std::string> require = {};  // FORMAT/OPERATION, wildcards allowed
    std::string max_not_supported = {};     // a whole number; "" without
};

// The options of the command line that fill `options`, which must outlive them.
std::vector<Option> options_of(DemandOptions& options);

// As the header of a record holds them. `cases` are those of the whole run, whatever the shard; a
// pattern that fits none of them is an error.
Expected<std::vector<results::Field>> demands_of(const DemandOptions& options,
                                                 const std::vector<PlannedCase>& cases);

// Of a complete, whole run: writes the demands that it does not meet into its footer. A pattern is
// met when of each FORMAT/OPERATION that it fits bits of one case at least were compared. Returns
// the exit code: `code`, or 4 if a demand is not met and nothing worse was found.
int judge_demands(results::Run& run, int code);

}  // namespace mx::cli
