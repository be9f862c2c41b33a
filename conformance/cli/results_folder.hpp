// The folder that --out names, and results.jsonl in it. Used by campaigns and by merge.
#pragma once

#include <string>

#include "conformance/results/results_file.hpp"

namespace mx::cli {

// "out/results.jsonl"
std::string results_path(const std::string& out);

// Makes the folder if it is not there.
Status prepare_folder(const std::string& out);

// An earlier file of this path is kept beside it, "out/bench.previous.jsonl", with a word on
// stderr.
Status move_aside(const std::string& path);

// An earlier results file is not overwritten but moved aside, with a word on stderr.
Expected<results::ResultsWriter> new_results(const std::string& out,
                                             const results::RunHeader& header);

}  // namespace mx::cli
