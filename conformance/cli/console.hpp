// How a case's outcome looks on the console. Prints records, decides nothing.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::cli {

// The clusters of one case that did not pass, or deviate, on stdout: up to `clusters_max`, then a
// line that counts the rest. Nothing for a case that passed. `device_argument` ends repro lines.
void print_case(const results::CaseResult& result, std::size_t clusters_max,
                const std::string& device_argument);

}  // namespace mx::cli
