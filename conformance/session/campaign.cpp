// See campaign.hpp.
#include "conformance/session/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include "conformance/cause/cause.hpp"
#include "conformance/cause/explainer.hpp"
#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/session/interrupt.hpp"
#include "conformance/session/provenance.hpp"
#include "conformance/session/workers.hpp"

namespace mx::session {
namespace {

std::size_t size_of(const Campaign& campaign) {
    return campaign.cases.size() + campaign.tasks.size();
}

std::string text_at(const Campaign& campaign, std::size_t index) {
    const std::size_t cases = campaign.cases.size();
    return index < cases ? print(campaign.cases[index].c) : campaign.tasks[index - cases].text;
}

// A place in the lists of this part, and in those of the whole run.
std::uint64_t whole_index(const Campaign& campaign, std::size_t place) {
    return campaign.shard.index + place * campaign.shard.count;
}

// The place of a recorded case in the lists of this part; their size if it is of another.
std::size_t place_of(const Campaign& campaign, std::uint64_t index) {
    const Shard& shard = campaign.shard;
    const bool is_mine = index % shard.count == shard.index;
    const std::uint64_t place = index / shard.count;
    return is_mine && place < size_of(campaign) ? place : size_of(campaign);
}

// What was killed before its first case has none to resume, and the record beside it is another's.
bool can_be_resumed(const std::string& out) {
    std::error_code error;
    return std::filesystem::exists(results_path(out), error) &&
           !std::filesystem::exists(new_results_path(out), error);
}

Expected<FolderRecord> open_results(Campaign& campaign, const Say& say) {
    const results::RunHeader header = campaign.run.header;
    const std::string path = results_path(campaign.folder.path);
    if (!campaign.resume || !can_be_resumed(campaign.folder.path))
        return FolderRecord::begin(campaign.folder, header, say);
    auto resumed = results::ResultsWriter::resume(path, header);
    if (!resumed) return resumed.error();
    campaign.run.header = resumed.value().header;
    campaign.run.cases = std::move(resumed.value().cases);
    for (const results::CaseResult& done : campaign.run.cases)
        if (const std::size_t place = place_of(campaign, done.index);
            place == size_of(campaign) || done.case_text != text_at(campaign, place))
            return bad_input(path + ": case " + std::to_string(done.index) +
                             " is not the case of that number in this run: " + done.case_text);
    say(std::to_string(campaign.run.cases.size()) + " of " + std::to_string(size_of(campaign)) +
        " cases are already done");
    return FolderRecord::resumed(campaign.folder, std::move(resumed.value().writer));
}

// What comes of the places of a list, one after the other; nothing when it was interrupted.
using Results = std::function<Expected<std::optional<results::CaseResult>>(std::size_t)>;

// Where the results of a run go.
struct Record {
    FolderRecord& writer;
    const Listener& listener;
    std::string close_fault = {};  // of the device, or of the first of several
};

// Appends what comes of these cases or tasks, in their order. False when the run ends here: at an
// interrupt, or when the oracles disagree. Errors: the disk, or an input.
Expected<bool> record_all(Campaign& campaign, const std::vector<std::size_t>& remaining,
                          const Results& results, Record& record) {
    for (const std::size_t i : remaining) {
        if (interrupted()) return false;
        auto result = results(i);
        if (!result) return result.error();
        if (!result.value()) return false;
        results::CaseResult& value = *result.value();
        value.index = whole_index(campaign, i);
        excuse(campaign.waivers, value);
        const Status written = record.writer.append(value);
        if (!written) return written.error();
        const bool fatal = value.verdict == results::Verdict::oracle_disagreement;
        record.listener.recorded(value, i);
        campaign.run.cases.push_back(std::move(value));
        if (fatal) return false;
    }
    return true;
}

// The places from `first` to `end` that no earlier run has done.
std::vector<std::size_t> left_of(const Campaign& campaign, std::size_t first, std::size_t end) {
    std::set<std::uint64_t> done;
    for (const results::CaseResult& result : campaign.run.cases)
        done.insert(result.index);  // of the whole run
    std::vector<std::size_t> left;
    for (std::size_t i = first; i < end; ++i)
        if (!done.contains(whole_index(campaign, i))) left.push_back(i);
    return left;
}

// What one process does: cases, each with its result, and then the end of its device.
struct Worker {
    std::function<Expected<results::CaseResult>(std::size_t)> run;
    std::function<Status()> close;
};

Expected<Worker> worker_of(const Campaign& campaign, const Opener& open, Sources& sources) {
    const auto client = open();
    if (!client) return client.error();
    // Which cases went before is up to the parts that a run is done in.
    const auto memory = campaign.reproducible ? cause::Memory::none : cause::Memory::of_the_run;
    const auto runner =
        std::make_shared<Runner>(client.value(), sources,
                                 RunnerOptions{campaign.device_argument, campaign.reproducible,
                                               campaign.timeouts_max, cause::Explainer(memory)});
    return Worker{[runner, &campaign](std::size_t i) { return runner->run(campaign.cases[i]); },
                  client.value().close};
}

// Its results as lines of the record, for another process to read.
Expected<Workers::Work> lines_of(const Expected<Worker>& worker) {
    if (!worker) return worker.error();
    return Workers::Work{[run = worker.value().run](std::size_t i) -> Expected<std::string> {
                             const auto result = run(i);
                             if (!result) return result.error();
                             return results::line_of(result.value());
                         },
                         worker.value().close};
}

Expected<std::optional<results::CaseResult>> result_of(
    const Expected<std::optional<std::string>>& line) {
    if (!line) return line.error();
    if (!line.value()) return std::optional<results::CaseResult>();
    auto record = results::record_of(*line.value());
    if (!record) return record.error();
    return std::optional(std::get<results::CaseResult>(std::move(record).value()));
}

// A device is closed when all its cases have been recorded. One that crashes or hangs then spoils
// none of them, and yet the run must say so.
Expected<bool> closed_after(Expected<bool> ran, const std::function<Status()>& close,
                            Record& record) {
    if (!ran || !ran.value() || !close) return ran;
    if (const Status closed = close(); !closed) record.close_fault = closed.error().message;
    return ran;
}

Expected<bool> run_cases(Campaign& campaign, const Opener& open, Sources& sources, Record& record) {
    const std::vector<std::size_t> remaining = left_of(campaign, 0, campaign.cases.size());
    const std::size_t jobs = std::min(campaign.jobs, remaining.size());
    const auto prepare = [&] { return worker_of(campaign, open, sources); };
    if (jobs > 1) {
        auto workers = Workers::start(jobs, remaining, [&] { return lines_of(prepare()); });
        if (!workers) return workers.error();
        const auto next = [&](std::size_t) { return result_of(workers.value().next()); };
        const auto ran = record_all(campaign, remaining, next, record);
        if (workers.value().lost())
            record.listener.say("a process of this run was ended from outside; --resume goes on");
        return closed_after(
            ran, [&] { return workers.value().close(); }, record);
    }
    const auto work = prepare();
    if (!work) return work.error();
    const auto one = [&](std::size_t i) -> Expected<std::optional<results::CaseResult>> {
        auto result = work.value().run(i);
        if (!result) return result.error();
        return std::optional(std::move(result).value());
    };
    return closed_after(record_all(campaign, remaining, one, record), work.value().close, record);
}

// Sweeps use a GPU from this very process, and what has used one must not fork: they come last.
Expected<bool> run_tasks(Campaign& campaign, Record& record) {
    const std::size_t first = campaign.cases.size();
    const auto remaining = left_of(campaign, first, first + campaign.tasks.size());
    return record_all(
        campaign, remaining, [&](std::size_t i) { return campaign.tasks[i - first].run(); },
        record);
}

// What only a whole run can be held to.
Outcome judged_whole(Campaign& campaign, Outcome outcome, const Say& say) {
    Outcome judged = judge_demands(campaign.run, outcome);
    if (campaign.baseline) judged = judge_baseline(*campaign.baseline, campaign.run, judged);
    return judge_unneeded(campaign.run, campaign.strict, judged, say);
}

Outcome finish(Campaign& campaign, Sources& sources, Record& record, double seconds) {
    const Say& say = record.listener.say;
    const bool complete = campaign.run.cases.size() == size_of(campaign);
    if (complete) campaign.run.footer = results::count_cases(campaign.run.cases);
    campaign.run.footer.close_fault = record.close_fault;
    add_cause(campaign.run, sources);
    Outcome outcome = outcome_of(campaign.run, complete);
    if (!complete) {
        say("stopped after " + std::to_string(campaign.run.cases.size()) + " of " +
            std::to_string(size_of(campaign)) + " cases; --resume goes on");
        return outcome;
    }
    if (campaign.shard.count == 1) outcome = judged_whole(campaign, outcome, say);
    campaign.run.footer.seconds = campaign.reproducible ? 0 : seconds;
    campaign.run.footer.exit_code = number_of(outcome);
    campaign.run.complete = true;
    if (const Status written = record.writer.finish(campaign.run.footer); !written) {
        say(written.error().message);
        outcome = Outcome::bad_input;
    }
    return outcome;
}

}  // namespace

void take_shard(Campaign& campaign, Shard shard) {
    const std::size_t cases = campaign.cases.size();
    campaign.cases = of_shard(std::move(campaign.cases), shard);
    campaign.tasks = of_shard(std::move(campaign.tasks), shard, cases);
    campaign.shard = shard;
}

std::vector<std::string> texts_of(const Campaign& campaign) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size_of(campaign); ++i) texts.push_back(text_at(campaign, i));
    return texts;
}

Status take_waivers(Campaign& campaign, const WaiverOptions& options, const Say& say) {
    results::RunHeader& header = campaign.run.header;
    auto waivers = waivers_of(options, header.device, texts_of(campaign), say);
    if (!waivers) return waivers.error();
    campaign.waivers = std::move(waivers).value();
    campaign.strict = options.strict;
    for (const Waiver& waiver : campaign.waivers) header.waivers.push_back(waiver.record);
    if (options.file.empty()) return success();
    header.argv.push_back("--waivers=" + options.file);
    if (options.strict) header.argv.push_back("--strict");
    header.table_hashes.push_back({"waivers", file_hash(options.file)});
    return success();
}

void add_cause(results::Run& run, Sources& sources) {
    cause::Cause cause = cause::cause_of(run.cases, sources);
    run.footer.cause = std::move(cause.sentence);
    run.footer.cause_kinds = std::move(cause.kinds);
}

Status take_demands(Campaign& campaign, const DemandOptions& options) {
    auto demands = demands_of(options, campaign.cases);
    if (!demands) return demands.error();
    results::RunHeader& header = campaign.run.header;
    header.demands = std::move(demands).value();
    for (const results::Field& demand : header.demands)
        header.argv.push_back("--" + demand.key + "=" + demand.value);
    return success();
}

Status take_baseline(Campaign& campaign, const std::string& folder, Shard shard) {
    if (folder.empty()) return success();
    if (shard.count > 1)
        return bad_input("--baseline is of a whole run; of shards, give it to mxcheck merge");
    auto baseline = baseline_of(folder);
    if (!baseline) return baseline.error();
    campaign.baseline = std::move(baseline).value();
    campaign.run.header.argv.push_back("--baseline=" + folder);
    campaign.run.header.table_hashes.push_back({"baseline", file_hash(results_path(folder))});
    return success();
}

Expected<Conducted> conduct(Campaign campaign, const Opener& open, Sources& sources,
                            const Listener& listener) {
    const auto start = std::chrono::steady_clock::now();
    campaign.run.header.case_count = size_of(campaign);
    if (campaign.reproducible) campaign.run.header.started = "";
    const Status folder = prepare_folder(campaign.folder.path);
    if (!folder) return folder.error();
    auto writer = open_results(campaign, listener.say);
    if (!writer) return writer.error();
    Record record{writer.value(), listener};
    auto ran = run_cases(campaign, open, sources, record);
    if (ran && ran.value()) ran = run_tasks(campaign, record);
    if (!ran) return ran.error();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const Outcome outcome = finish(campaign, sources, record, elapsed.count());
    return Conducted{std::move(campaign.run), outcome, elapsed.count()};
}

}  // namespace mx::session
