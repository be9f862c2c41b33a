// What the commands that make or join a record share: their options, and how a campaign looks on
// the console. Used by run, gen, check, replay, relate, merge and bench.
#pragma once

#include "conformance/cli/arguments.hpp"
#include "conformance/session/campaign.hpp"

namespace mx::cli {

// The options of the command line that fill these; each must outlive its options.
std::vector<Option> options_of(session::PlanOptions& plan);
std::vector<Option> options_of(session::WaiverOptions& options);
std::vector<Option> options_of(session::DemandOptions& options);
Option baseline_option(std::string& folder);

// The folder of --out, with the reports that this program writes there.
session::ResultsFolder results_folder(const std::string& out);

// A header with what this program and this machine are, and the time.
results::RunHeader new_header();

// Conducts the campaign with its progress and first failures on the console, then writes the
// reports and concludes. Returns the exit code.
int run_campaign(session::Campaign campaign, const Opener& open, Sources& sources);

}  // namespace mx::cli
