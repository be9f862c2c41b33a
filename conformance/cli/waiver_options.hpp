// --waivers and --strict: the file, and what is said of waivers that do not hold. Used by run,
// check, replay and merge.
#pragma once

#include <string>
#include <vector>

#include "conformance/cli/arguments.hpp"
#include "conformance/waivers/waivers.hpp"

namespace mx::cli {

struct WaiverOptions {
    std::string file = {};  // "" without
    bool strict = false;
};

// The options of the command line that fill `options`, which must outlive them.
std::vector<Option> options_of(WaiverOptions& options);

// Reads the file and settles each waiver; `device` is what the user calls the device. Expired and
// unmatched ones are warnings on stderr, under --strict an error; those for other devices are named
// either way. No file is no waiver.
Expected<std::vector<Waiver>> waivers_of(const WaiverOptions& options, const std::string& device,
                                         std::vector<std::string> case_texts);

// Of a complete, whole run: names the waivers that no case needed. Returns the exit code: `code`,
// or 2 if there are such under --strict and the run is otherwise fine.
int judge_unneeded(const results::Run& run, bool strict, int code);

}  // namespace mx::cli
