// mxcheck run: the cases of a level, one after the other, each a flushed line of results.jsonl;
// then the reports.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/console.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/report_files.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/run/plan.hpp"
#include "conformance/run/runner.hpp"
#include "reports/model/summary.hpp"

namespace mx::cli {
namespace {

struct RunOptions {
    std::string device = "cpu";
    std::vector<std::string> dialects;
    std::string level = "quick";
    std::string suite = "*";
    std::uint64_t seed = 0;
    std::string out = "out";
    std::string shard = "0/1";
    std::string input;
    std::uint64_t timeout = 60;
    bool resume = false;
};

// Cases printed in full before the rest is left to the report.
constexpr std::size_t cases_printed_max = 20;
constexpr std::size_t clusters_printed_max = 4;

// What a run works with, from opening to report.
struct Campaign {
    RunOptions options;
    std::string results_path;
    std::vector<PlannedCase> cases;
    results::Run run;  // filled as cases end
};

// The tables, and the files that decide the answers: --resume compares the hashes, and must not mix
// the answers to two inputs or of two builds of a plug-in.
std::vector<results::Field> hashes_of(const RunOptions& options) {
    std::vector<results::Field> hashes = table_hashes();
    if (!options.input.empty()) hashes.push_back({"input", file_hash(options.input)});
    const auto device = built_in_devices().resolve(options.device);
    if (device && !device.value().path.empty())
        hashes.push_back({"plug-in", file_hash(device.value().path)});
    return hashes;
}

results::RunHeader header_of(const Campaign& campaign, const IsolatedDevice& device) {
    const RunOptions& o = campaign.options;
    results::RunHeader header;
    header.program_version = program_version();
    header.commit = program_commit();
    header.dirty = is_dirty();
    header.argv = {"mxcheck", "run"};
    header.started = utc_now();
    header.level = o.level;
    header.suites = o.input.empty() ? o.suite : "input " + o.input;
    header.dialects = "";
    for (const std::string& dialect : o.dialects)
        header.dialects += (header.dialects.empty() ? "" : ",") + dialect;
    if (header.dialects.empty()) header.dialects = "all";
    header.seed = o.seed;
    header.shard = o.shard;
    header.case_count = campaign.cases.size();
    header.device = o.device;
    for (const auto& [key, value] : device.facts()) header.device_facts.push_back({key, value});
    header.environment = environment_facts();
    header.table_hashes = hashes_of(o);
    for (const std::string& word :
         {"--device=" + o.device, "--level=" + o.level, "--suite=" + o.suite,
          "--seed=" + std::to_string(o.seed), "--shard=" + o.shard})
        header.argv.push_back(word);
    if (!o.dialects.empty()) header.argv.push_back("--dialect=" + header.dialects);
    if (!o.input.empty()) header.argv.push_back("--input=" + o.input);
    return header;
}

Status check_dialects(const RunOptions& options) {
    for (const std::string& dialect : options.dialects) {
        const Status known = check_name("dialect", dialect, dialect_names());
        if (!known) return known;
    }
    return success();
}

Expected<std::vector<PlannedCase>> planned(const RunOptions& options, Sources& sources) {
    const Status dialects = check_dialects(options);
    if (!dialects) return dialects.error();
    if (!options.input.empty() && options.suite != "*")
        return Error{ErrorKind::bad_input, "--input runs instead of the suites; leave --suite out"};
    const auto shard = parse_shard(options.shard);
    if (!shard) return shard.error();
    const PlanRequest request{options.level, options.suite, options.dialects, options.seed};
    auto cases = options.input.empty() ? plan_cases(built_in_suites(), request, sources)
                                       : plan_input(options.input, request);
    if (!cases) return cases.error();
    if (cases.value().empty())
        return Error{ErrorKind::bad_input, "no case of suite '" + options.suite + "' has level '" +
                                               options.level + "' and these dialects"};
    return of_shard(std::move(cases).value(), shard.value());
}

Status prepare_folder(const Campaign& campaign) {
    std::error_code error;
    std::filesystem::create_directories(campaign.options.out, error);
    if (error)
        return Error{ErrorKind::system,
                     "cannot make the folder " + campaign.options.out + ": " + error.message()};
    return success();
}

// A writer holds the file's lock while it lives.
bool is_being_written(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return locked;
}

// An earlier results file is not overwritten but moved aside.
Expected<results::ResultsWriter> new_results(const Campaign& campaign,
                                             const results::RunHeader& header) {
    const std::string& path = campaign.results_path;
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
        if (is_being_written(path))
            return Error{ErrorKind::bad_input, path + ": another run is writing it"};
        const std::string previous =
            (std::filesystem::path(campaign.options.out) / "results.previous.jsonl").string();
        std::filesystem::rename(path, previous, error);
        if (error) return Error{ErrorKind::system, "cannot move " + path + ": " + error.message()};
        std::fprintf(stderr, "mxcheck: the earlier results are now %s\n", previous.c_str());
    }
    return results::ResultsWriter::create(path, header);
}

Expected<results::ResultsWriter> open_results(Campaign& campaign,
                                              const results::RunHeader& header) {
    std::error_code error;
    campaign.run.header = header;
    if (!campaign.options.resume || !std::filesystem::exists(campaign.results_path, error))
        return new_results(campaign, header);
    auto resumed = results::ResultsWriter::resume(campaign.results_path, header);
    if (!resumed) return resumed.error();
    campaign.run.header = resumed.value().header;
    campaign.run.cases = std::move(resumed.value().cases);
    for (const results::CaseResult& done : campaign.run.cases)
        if (done.index >= campaign.cases.size() ||
            done.case_text != print(campaign.cases[done.index].c))
            return Error{ErrorKind::bad_input,
                         campaign.results_path + ": case " + std::to_string(done.index) +
                             " is not the case of that number in this run: " + done.case_text};
    std::fprintf(stderr, "mxcheck: %zu of %zu cases are already done\n", campaign.run.cases.size(),
                 campaign.cases.size());
    return std::move(resumed.value().writer);
}

// Runs the cases that are not done yet. Stops at an interrupt, or when the disk or an input fails.
Status run_cases(Campaign& campaign, Runner& runner, results::ResultsWriter& writer) {
    std::set<std::uint64_t> done;
    for (const results::CaseResult& result : campaign.run.cases) done.insert(result.index);
    Progress progress("cases", campaign.cases.size());
    std::size_t printed = 0;
    std::uint64_t failed = 0;
    for (std::size_t i = 0; i < campaign.cases.size() && !interrupted(); ++i) {
        if (done.contains(i)) continue;
        auto result = runner.run(campaign.cases[i]);
        if (!result) return result.error();
        results::CaseResult& value = result.value();
        value.index = i;
        const Status written = writer.append(value);
        if (!written) return written.error();
        const bool bad = !results::may_pass(value.verdict);
        failed += bad ? 1 : 0;
        if (bad && printed < cases_printed_max) {
            ++printed;
            progress.clear();
            print_case(value, clusters_printed_max, device_argument(campaign.options.device));
            if (printed == cases_printed_max)
                std::printf("more cases fail; the report will hold them all\n");
        }
        const bool fatal = value.verdict == results::Verdict::oracle_disagreement;
        campaign.run.cases.push_back(std::move(value));
        if (fatal) return success();
        progress.update(i + 1, std::to_string(failed) + " failing, " + campaign.cases[i].suite);
    }
    return success();
}

int finish(Campaign& campaign, results::ResultsWriter& writer, double seconds) {
    const bool complete = campaign.run.cases.size() == campaign.cases.size();
    int code = exit_code_of(campaign.run.cases, complete);
    if (complete) {
        campaign.run.footer = results::count_cases(campaign.run.cases);
        campaign.run.footer.seconds = seconds;
        campaign.run.footer.exit_code = code;
        campaign.run.complete = true;
        const Status written = writer.finish(campaign.run.footer);
        if (!written) {
            complain(written.error().message);
            code = exit_usage;
        }
    } else {
        std::fprintf(stderr, "mxcheck: stopped after %zu of %zu cases; --resume goes on\n",
                     campaign.run.cases.size(), campaign.cases.size());
    }
    const auto files = write_report_files(campaign.run, campaign.options.out);
    if (!files) {
        complain(files.error().message);
        code = exit_usage;
    } else {
        for (const std::string& path : files.value()) std::printf("wrote %s\n", path.c_str());
    }
    const reports::Summary summary = reports::summarize(campaign.run);
    for (const reports::OpenDecision& open : summary.deviations)
        std::printf("deviation: %s, %llu places in %llu cases; mxcheck replay %s%s\n",
                    open.decision.c_str(), static_cast<unsigned long long>(open.count),
                    static_cast<unsigned long long>(open.cases),
                    shell_quoted(open.example->case_text).c_str(),
                    device_argument(campaign.options.device).c_str());
    std::printf("%s (%s)\n", summary.headline.c_str(), duration_text(seconds).c_str());
    return code;
}

int fail_with(const Error& error) {
    complain(error.message);
    return exit_code_of(error);
}

int run(const RunOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    Campaign campaign;
    campaign.options = options;
    campaign.results_path = (std::filesystem::path(options.out) / "results.jsonl").string();
    Sources sources;
    auto cases = planned(options, sources);
    if (!cases) return fail_with(cases.error());
    campaign.cases = std::move(cases).value();
    auto device = open_device(options.device, options.timeout);
    if (!device) return fail_with(device.error());
    const Status folder = prepare_folder(campaign);
    if (!folder) return fail_with(folder.error());
    auto writer = open_results(campaign, header_of(campaign, device.value()));
    if (!writer) return fail_with(writer.error());
    catch_interrupts();
    Runner runner(device.value(), sources, {device_argument(options.device)});
    const Status ran = run_cases(campaign, runner, writer.value());
    if (!ran) return fail_with(ran.error());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return finish(campaign, writer.value(), elapsed.count());
}

}  // namespace

Command run_command() {
    auto o = std::make_shared<RunOptions>();
    return {"run",
            "diff a device against the oracle, bit for bit",
            "mxcheck run --device ./mydev.so --dialect nv --level quick --out out",
            {{"--device", "built-in device, or path to a plug-in (see list devices)", &o->device},
             {"--dialect", "only these dialects (default all; see list dialects)", &o->dialects},
             {"--level", "smoke, quick, full or exhaustive", &o->level},
             {"--suite", "only suites of this name; * and ? are wildcards", &o->suite},
             {"--seed", "seed of the random data", &o->seed},
             {"--out", "folder for results.jsonl and the reports", &o->out},
             {"--shard", "only part I of N of the cases", &o->shard},
             {"--input", "quantize this .npy or .safetensors instead of the suites", &o->input},
             {"--timeout", "seconds that one call of the device may take", &o->timeout},
             {"--resume", "go on where an interrupted run in --out stopped", &o->resume}},
            [o] { return run(*o); }};
}

}  // namespace mx::cli
