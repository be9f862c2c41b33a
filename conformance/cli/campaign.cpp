// See campaign.hpp.
#include "conformance/cli/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/arguments.hpp"
#include "conformance/cli/conclusion.hpp"
#include "conformance/cli/console.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/results_folder.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/cli/text_file.hpp"
#include "conformance/cli/workers.hpp"
#include "conformance/results/results_file.hpp"

namespace mx::cli {
namespace {

// Cases printed in full before the rest is left to the report.
constexpr std::size_t cases_printed_max = 20;
constexpr std::size_t clusters_printed_max = 4;

std::size_t size_of(const Campaign& campaign) {
    return campaign.cases.size() + campaign.errands.size();
}

std::string text_at(const Campaign& campaign, std::size_t index) {
    const std::size_t cases = campaign.cases.size();
    return index < cases ? print(campaign.cases[index].c) : campaign.errands[index - cases].text;
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

Status check_names(const PlanOptions& options) {
    for (const std::string& dialect : options.dialects)
        if (const Status known = check_name("dialect", dialect, dialect_names()); !known)
            return known;
    std::vector<std::string> formats = format_names("quantize");
    for (const std::string& element : format_names("convert")) formats.push_back(element);
    for (const std::string& format : options.formats)
        if (const Status known = check_name("format", format, formats); !known) return known;
    return success();
}

// What was killed before its first case has none to resume, and the record beside it is another's.
bool can_be_resumed(const std::string& out) {
    std::error_code error;
    return std::filesystem::exists(results_path(out), error) &&
           !std::filesystem::exists(new_results_path(out), error);
}

Expected<FolderRecord> open_results(Campaign& campaign) {
    const results::RunHeader header = campaign.run.header;
    const std::string path = results_path(campaign.out);
    if (!campaign.resume || !can_be_resumed(campaign.out))
        return FolderRecord::begin(campaign.out, header);
    auto resumed = results::ResultsWriter::resume(path, header);
    if (!resumed) return resumed.error();
    campaign.run.header = resumed.value().header;
    campaign.run.cases = std::move(resumed.value().cases);
    for (const results::CaseResult& done : campaign.run.cases)
        if (const std::size_t place = place_of(campaign, done.index);
            place == size_of(campaign) || done.case_text != text_at(campaign, place))
            return Error{ErrorKind::bad_input,
                         path + ": case " + std::to_string(done.index) +
                             " is not the case of that number in this run: " + done.case_text};
    std::fprintf(stderr, "mxcheck: %zu of %zu cases are already done\n", campaign.run.cases.size(),
                 size_of(campaign));
    return FolderRecord::resumed(campaign.out, std::move(resumed.value().writer));
}

// What comes of the places of a list, one after the other; nothing when it was interrupted.
using Results = std::function<Expected<std::optional<results::CaseResult>>(std::size_t)>;

// Of the cases and the errands of one run together.
struct Tally {
    std::size_t printed = 0;
    std::uint64_t failed = 0;
};

// Where the results of a run go.
struct Record {
    FolderRecord& writer;
    Tally tally = {};
    std::string close_fault = {};  // of the device, or of the first of several
};

// Appends what comes of these cases or errands, in their order. False when the run ends here: at an
// interrupt, or when the oracles disagree. Errors: the disk, or an input.
Expected<bool> record_all(Campaign& campaign, const std::vector<std::size_t>& todo,
                          const Results& results, Record& record) {
    Progress progress("cases", campaign.run.header.case_count);
    auto& [printed, failed] = record.tally;
    for (const std::size_t i : todo) {
        if (interrupted()) return false;
        auto result = results(i);
        if (!result) return result.error();
        if (!result.value()) return false;
        results::CaseResult& value = *result.value();
        value.index = whole_index(campaign, i);
        excuse(campaign.waivers, value);
        const Status written = record.writer.append(value);
        if (!written) return written.error();
        const bool bad = !results::may_pass(value.verdict);
        failed += bad ? 1 : 0;
        if (bad && printed < cases_printed_max) {
            ++printed;
            progress.clear();
            print_case(value, clusters_printed_max, campaign.device_argument);
            if (printed == cases_printed_max)
                std::printf("more cases fail; the report will hold them all\n");
        }
        const bool fatal = value.verdict == results::Verdict::oracle_disagreement;
        progress.update(i + 1, std::to_string(failed) + " failing, " + value.suite);
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

Expected<Workers::Work> worker_of(const Campaign& campaign, const Opener& open, Sources& sources) {
    auto respondent = open();
    if (!respondent) return respondent.error();
    auto runner = std::make_shared<Runner>(
        std::move(respondent.value().ask), sources,
        RunnerOptions{campaign.device_argument, std::move(respondent.value().refuses),
                      campaign.reproducible});
    return Workers::Work{
        [runner, &campaign](std::size_t i) { return runner->run(campaign.cases[i]); },
        std::move(respondent.value().close)};
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
    const std::vector<std::size_t> todo = left_of(campaign, 0, campaign.cases.size());
    const std::size_t jobs = std::min(campaign.jobs, todo.size());
    const auto prepare = [&] { return worker_of(campaign, open, sources); };
    if (jobs > 1) {
        auto workers = Workers::start(jobs, todo, prepare);
        if (!workers) return workers.error();
        const auto next = [&](std::size_t) { return workers.value().next(); };
        return closed_after(
            record_all(campaign, todo, next, record), [&] { return workers.value().close(); },
            record);
    }
    const auto work = prepare();
    if (!work) return work.error();
    const auto one = [&](std::size_t i) -> Expected<std::optional<results::CaseResult>> {
        auto result = work.value().run(i);
        if (!result) return result.error();
        return std::optional(std::move(result).value());
    };
    return closed_after(record_all(campaign, todo, one, record), work.value().close, record);
}

// Sweeps use a GPU from this very process, and what has used one must not fork: they come last.
Expected<bool> run_errands(Campaign& campaign, Record& record) {
    const std::size_t first = campaign.cases.size();
    const auto todo = left_of(campaign, first, first + campaign.errands.size());
    return record_all(
        campaign, todo, [&](std::size_t i) { return campaign.errands[i - first].run(); }, record);
}

int finish(Campaign& campaign, Record& record, double seconds) {
    const bool complete = campaign.run.cases.size() == size_of(campaign);
    if (complete) campaign.run.footer = results::count_cases(campaign.run.cases);
    campaign.run.footer.close_fault = record.close_fault;
    int code = exit_code_of(campaign.run, complete);
    if (complete && campaign.shard.count == 1)
        code = judge_unneeded(campaign.run, campaign.strict, judge_demands(campaign.run, code));
    if (complete) {
        campaign.run.footer.seconds = campaign.reproducible ? 0 : seconds;
        campaign.run.footer.exit_code = code;
        campaign.run.complete = true;
        const Status written = record.writer.finish(campaign.run.footer);
        if (!written) {
            complain(written.error().message);
            code = exit_usage;
        }
    } else {
        std::fprintf(stderr, "mxcheck: stopped after %zu of %zu cases; --resume goes on\n",
                     campaign.run.cases.size(), size_of(campaign));
    }
    return conclude(campaign.run,
                    {campaign.out, campaign.device_argument, duration_text(seconds), code});
}

Expected<std::vector<Suite>> suites_of(const PlanOptions& options) {
    if (options.suite_file.empty()) return built_in_suites();
    auto text = text_of_file(options.suite_file);
    if (!text) return Error{ErrorKind::bad_input, "suite file " + text.error().message};
    const std::string name = std::filesystem::path(options.suite_file).stem().string();
    return std::vector<Suite>{{name, std::move(text).value()}};
}

}  // namespace

std::vector<Option> options_of(PlanOptions& plan) {
    return {{"--dialect", "only these dialects (default all; see list dialects)", &plan.dialects},
            {"--format", "only these formats (default all; see list formats)", &plan.formats},
            {"--level", "smoke, quick, full or exhaustive", &plan.level},
            {"--suite", "only suites of this name; * and ? are wildcards", &plan.suite},
            {"--suite-file", "this file instead of the suites", &plan.suite_file},
            {"--seed", "seed of the random data", &plan.seed},
            {"--shard",
             "only part I/N of the cases; auto: the part that a launcher "
             "names (Slurm, MPI, Kubernetes, Bazel, GoogleTest)",
             &plan.shard},
            {"--input", "quantize this .npy or .safetensors instead of the suites", &plan.input}};
}

Expected<std::vector<PlannedCase>> planned(const PlanOptions& options, Sources& sources) {
    const Status names = check_names(options);
    if (!names) return names.error();
    if (!options.input.empty() && options.suite != "*")
        return Error{ErrorKind::bad_input, "--input runs instead of the suites; leave --suite out"};
    const auto suites = suites_of(options);
    if (!suites) return suites.error();
    const PlanRequest request{options.level, options.suite, options.dialects, options.seed};
    auto planned = options.input.empty() ? plan_cases(suites.value(), request, sources)
                                         : plan_input(options.input, request);
    if (!planned) return planned.error();
    std::vector<PlannedCase> cases = std::move(planned).value();
    const auto other_format = [&options](const PlannedCase& one) {
        return !options.formats.empty() && std::find(options.formats.begin(), options.formats.end(),
                                                     one.c.format) == options.formats.end();
    };
    std::erase_if(cases, other_format);
    if (cases.empty())
        return Error{ErrorKind::bad_input, "no case of suite '" + options.suite + "' has level '" +
                                               options.level + "' and these dialects" +
                                               (options.formats.empty() ? "" : " and formats")};
    return cases;
}

std::string list_text(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text.empty() ? "all" : text;
}

void take_shard(Campaign& campaign, Shard shard) {
    const std::size_t cases = campaign.cases.size();
    campaign.cases = of_shard(std::move(campaign.cases), shard);
    campaign.errands = of_shard(std::move(campaign.errands), shard, cases);
    campaign.shard = shard;
}

std::vector<std::string> texts_of(const Campaign& campaign) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size_of(campaign); ++i) texts.push_back(text_at(campaign, i));
    return texts;
}

Status take_waivers(Campaign& campaign, const WaiverOptions& options) {
    results::RunHeader& header = campaign.run.header;
    auto waivers = waivers_of(options, header.device, texts_of(campaign));
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

Status take_demands(Campaign& campaign, const DemandOptions& options) {
    auto demands = demands_of(options, campaign.cases);
    if (!demands) return demands.error();
    results::RunHeader& header = campaign.run.header;
    header.demands = std::move(demands).value();
    for (const results::Field& demand : header.demands)
        header.argv.push_back("--" + demand.key + "=" + demand.value);
    return success();
}

results::RunHeader new_header() {
    results::RunHeader header;
    header.program_version = program_version();
    header.commit = program_commit();
    header.dirty = is_dirty();
    header.started = utc_now();
    header.environment = environment_facts();
    header.table_hashes = table_hashes();
    return header;
}

int conduct(Campaign campaign, const Opener& open, Sources& sources) {
    const auto start = std::chrono::steady_clock::now();
    campaign.run.header.case_count = size_of(campaign);
    if (campaign.reproducible) campaign.run.header.started = "";
    const Status folder = prepare_folder(campaign.out);
    if (!folder) return fail_with(folder.error());
    auto writer = open_results(campaign);
    if (!writer) return fail_with(writer.error());
    catch_interrupts();
    Record record{writer.value()};
    auto ran = run_cases(campaign, open, sources, record);
    if (ran && ran.value()) ran = run_errands(campaign, record);
    if (!ran) return fail_with(ran.error());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return finish(campaign, record, elapsed.count());
}

}  // namespace mx::cli
