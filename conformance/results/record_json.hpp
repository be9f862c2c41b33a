// One line of a results file to and from a record. Used by the results file reader and writer only.
// Knows JSON, but shows none of it; must not know files.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "conformance/results/record.hpp"
#include "reference/base/status.hpp"

namespace mx::results {

// Each returns one line of JSON, newline included. Bytes that are not UTF-8 become U+FFFD, so a
// device that talks garbage cannot stop its own result from being written.
std::string line_of(const RunHeader& header);
std::string line_of(const CaseResult& result);
std::string line_of(const RunFooter& footer);

using Record = std::variant<RunHeader, CaseResult, RunFooter>;

// Reads one line, with or without its newline. The error does not say where the line stood. A key
// that this version does not know is an error, as is one that it knows and that is not there.
Expected<Record> record_of(std::string_view line);

}  // namespace mx::results
