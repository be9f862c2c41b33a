// Does a record say two things at once? A line that was edited by hand must not turn a run green.
// Used by the reader of results files; knows no file.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::results {

// What is wrong, "" if nothing is: a verdict, and what was counted and listed beside it.
std::string contradiction_of(const CaseResult& result);

// The same of a finished run: its header, its cases and its footer.
std::string contradiction_of(const Run& run);

}  // namespace mx::results
