// A campaign: the planned cases, one after the other, each a flushed line of results.jsonl; then
// the reports and the exit code. Used by run and check, which differ in who answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/arguments.hpp"
#include "conformance/cli/demands.hpp"
#include "conformance/cli/waiver_options.hpp"
#include "conformance/results/record.hpp"
#include "conformance/run/plan.hpp"
#include "conformance/run/runner.hpp"

namespace mx::cli {

// Which cases, as the options of run and gen say it.
struct PlanOptions {
    std::vector<std::string> dialects = {};
    std::vector<std::string> formats = {};
    std::string level = "quick";
    std::string suite = "*";
    std::uint64_t seed = 0;
    std::string shard = "0/1";    // or auto
    std::string suite_file = {};  // lines of a suite instead of those of this program
    std::string input = {};       // a tensor file instead of any suite
};

// The options of the command line that fill `plan`, which must outlive them.
std::vector<Option> options_of(PlanOptions& plan);

// The cases of the suites, or of the input, whatever the shard. No case at all is an error.
Expected<std::vector<PlannedCase>> planned(const PlanOptions& options, Sources& sources);

// "a,b", or "all" for no names.
std::string list_text(const std::vector<std::string>& names);

// What is recorded like a case, but asks no plug-in: a sweep. Nothing when it was interrupted.
struct Errand {
    std::string text;  // stands for the case's
    std::function<Expected<std::optional<results::CaseResult>>()> run;
};

struct Campaign {
    std::string out = "out";
    bool resume = false;
    std::string device_argument = {};  // how repro lines name the device
    std::vector<PlannedCase> cases = {};
    results::Run run = {};  // its header is set by the caller, its cases are filled as they end
    std::vector<Errand> errands = {};  // after the cases
    std::size_t jobs = 1;              // cases at once, each in a process with a device of its own
    Shard shard = {};                  // the cases and errands are those of this part
    std::vector<Waiver> waivers = {};
    bool strict = false;  // about waivers
    // The record holds no clock reading, and no case's hangs on those before it.
    bool reproducible = false;
};

// Leaves the cases and errands of one part. They are dealt out together, as one list.
void take_shard(Campaign& campaign, Shard shard);

// "quantize format=...", "sweep map=...": all that the campaign is to do.
std::vector<std::string> texts_of(const Campaign& campaign);

// From a file of waivers to the campaign and its header.
Status take_waivers(Campaign& campaign, const WaiverOptions& options);

// From the options to the header. Before take_shard: a demand is made on the whole run.
Status take_demands(Campaign& campaign, const DemandOptions& options);

// A header with what this program and this machine are, and the time.
results::RunHeader new_header();

// Who answers; opened anew in each process that runs cases.
struct Respondent {
    Asker ask;
    Refuser refuses = {};
    std::function<Status()> close = {};  // after the last case; the error says how it went wrong
};
using Opener = std::function<Expected<Respondent>()>;

// Asks, writes and reports. Returns the exit code.
int conduct(Campaign campaign, const Opener& open, Sources& sources);

}  // namespace mx::cli
