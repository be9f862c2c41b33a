// A file of waivers in a run: settled before it, and what is said of those that do not hold. Used
// by run, check, replay and merge.
#pragma once

#include <string>
#include <vector>

#include "conformance/session/listener.hpp"
#include "conformance/session/outcome.hpp"
#include "conformance/waivers/waivers.hpp"

namespace mx::session {

// As --waivers and --strict say it.
struct WaiverOptions {
    std::string file = {};  // "" without
    bool strict = false;
};

// Reads the file and settles each waiver; `device` is what the user calls the device. Of expired
// and unmatched ones `say` is told, under strict they are an error; those for other devices are
// named either way. No file is no waiver.
Expected<std::vector<Waiver>> waivers_of(const WaiverOptions& options, const std::string& device,
                                         std::vector<std::string> case_texts, const Say& say);

// Of a complete, whole run: tells `say` the waivers that no case needed. Returns `outcome`, or
// bad_input if there are such under strict and the run is otherwise fine.
Outcome judge_unneeded(const results::Run& run, bool strict, Outcome outcome, const Say& say);

}  // namespace mx::session
