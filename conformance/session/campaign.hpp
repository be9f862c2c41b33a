// A campaign: the planned cases, one after the other, each a flushed line of results.jsonl, and
// what they come to. Used by run and check, which differ in who answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/session/baseline.hpp"
#include "conformance/session/demands.hpp"
#include "conformance/session/listener.hpp"
#include "conformance/session/outcome.hpp"
#include "conformance/session/plan.hpp"
#include "conformance/session/results_folder.hpp"
#include "conformance/session/waiving.hpp"

namespace mx::session {

// What is recorded like a case, but asks no plug-in: a sweep. Nothing when it was interrupted.
struct Task {
    std::string text;  // stands for the case's
    std::function<Expected<std::optional<results::CaseResult>>()> run;
};

struct Campaign {
    ResultsFolder folder = {};
    bool resume = false;
    std::string device_argument = {};  // how repro lines name the device
    std::vector<PlannedCase> cases = {};
    results::Run run = {};  // its header is set by the caller, its cases are filled as they end
    std::vector<Task> tasks = {};  // after the cases
    std::size_t jobs = 1;          // cases at once, each in a process with a device of its own
    Shard shard = {};              // the cases and tasks are those of this part
    std::vector<Waiver> waivers = {};
    bool strict = false;  // about waivers
    std::optional<Baseline> baseline = {};
    std::uint64_t timeouts_max = 5;  // of an operation in a row, see RunnerOptions
    // The record holds no clock reading, and no case's hangs on those before it.
    bool reproducible = false;
};

// Leaves the cases and tasks of one part. They are dealt out together, as one list.
void take_shard(Campaign& campaign, Shard shard);

// "quantize format=...", "sweep map=...": all that the campaign is to do.
std::vector<std::string> texts_of(const Campaign& campaign);

// From a file of waivers to the campaign and its header. Warnings go to `say`.
Status take_waivers(Campaign& campaign, const WaiverOptions& options, const Say& say);

// What all that is wrong in the run comes from, into its footer.
void add_cause(results::Run& run, Sources& sources);

// From the options to the header. Before take_shard: a demand is made on the whole run.
Status take_demands(Campaign& campaign, const DemandOptions& options);

// From an earlier run, "" without, to the campaign and its header. It is one of the whole run: a
// shard has none.
Status take_baseline(Campaign& campaign, const std::string& folder, Shard shard);

// A campaign that ended, or was interrupted.
struct Conducted {
    results::Run run;  // complete, or what there is of it
    Outcome outcome = Outcome::incomplete;
    double seconds = 0;
};

// Asks, judges and writes. Who answers is opened anew in each process that runs cases, and closed
// after the last. The listener hears of each result, of what is odd, and of where a run
// that is not complete has stopped. An error is about the folder, an input or a device that does
// not open, and leaves what was recorded before it.
Expected<Conducted> conduct(Campaign campaign, const Opener& open, Sources& sources,
                            const Listener& listener = {});

}  // namespace mx::session
