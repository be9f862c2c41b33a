// The record that mxcheck relate leaves, as every run does. Used by that command alone.
#pragma once

#include <string>

#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx::cli {

// Makes the folder, before anything is asked for its sake; "" is none.
Status prepare_record(const std::string& out);

// Writes results.jsonl and the reports of a run whose header and cases are there. The cases are
// those of a run that ended, unless fewer than the header counts. Returns the exit code.
int write_record(results::Run run, const std::string& out, int exit_code);

}  // namespace mx::cli
