// mxcheck run: the cases of a level against a device.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/jobs.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/run/sweep_result.hpp"
#include "conformance/session/every_algorithm.hpp"
#include "conformance/session/shard.hpp"
#include "conformance/session/sweep_tasks.hpp"

namespace mx::cli {
namespace {

struct RunOptions {
    DeviceChoice choice;
    std::string design;  // of --rtl, "" without
    session::PlanOptions plan;
    std::string out = "out";
    std::uint64_t timeout = 60;
    std::uint64_t timeouts_max = 5;
    bool resume = false;
    std::uint64_t jobs = 0;  // 0: as many as are safe
    session::WaiverOptions waivers;
    session::DemandOptions demands;
    std::string baseline;
    std::string algorithms = "default";
    bool reproducible = false;
};

// The tables, and the files that decide the answers: --resume compares the hashes, and must not mix
// the answers to two inputs or of two builds of a plug-in.
void add_hashes(const RunOptions& options, std::vector<results::Field>& hashes) {
    if (!options.plan.input.empty())
        hashes.push_back({"input", session::file_hash(options.plan.input)});
    if (!options.plan.suite_file.empty())
        hashes.push_back({"suite file", session::file_hash(options.plan.suite_file)});
    if (!options.plan.model_file.empty())
        hashes.push_back({"model file", session::file_hash(options.plan.model_file)});
    const auto device = device_source(options.choice);
    if (device && !device.value().path.empty())
        hashes.push_back({"plug-in", session::file_hash(device.value().path)});
}

results::RunHeader header_of(const RunOptions& options, session::Shard shard,
                             const Client& client) {
    const session::PlanOptions& plan = options.plan;
    results::RunHeader header = new_header();
    header.level = plan.level;
    header.suites = plan.input.empty() ? plan.suite : "input " + plan.input;
    header.dialects = session::list_text(plan.dialects);
    header.seed = plan.seed;
    header.shard = text_of(shard);
    header.device = shown_name(options.choice);
    for (const auto& [key, value] : client.facts) header.device_facts.push_back({key, value});
    add_hashes(options, header.table_hashes);
    const std::string device_option =
        options.choice.command.empty() ? "--device=" : "--device-cmd=";
    header.argv = {"mxcheck",
                   "run",
                   device_option + header.device,
                   "--level=" + plan.level,
                   "--suite=" + plan.suite,
                   "--seed=" + std::to_string(plan.seed),
                   "--shard=" + header.shard};
    if (!plan.dialects.empty()) header.argv.push_back("--dialect=" + header.dialects);
    if (!plan.formats.empty())
        header.argv.push_back("--format=" + session::list_text(plan.formats));
    if (!plan.suite_file.empty()) header.argv.push_back("--suite-file=" + plan.suite_file);
    if (!plan.input.empty()) header.argv.push_back("--input=" + plan.input);
    if (!plan.model.empty()) header.argv.push_back("--model=" + plan.model);
    if (!plan.model_file.empty()) header.argv.push_back("--model-file=" + plan.model_file);
    if (options.algorithms != "default")
        header.argv.push_back("--algorithms=" + options.algorithms);
    if (options.reproducible) header.argv.push_back("--reproducible");
    return header;
}

// What narrows a run by dialect, format or input leaves the sweeps out.
std::vector<sweep::GpuSweep> sweeps_of(const RunOptions& options) {
    const session::PlanOptions& plan = options.plan;
    const bool is_whole = matches_glob(plan.suite, sweep_suite) && plan.dialects.empty() &&
                          plan.formats.empty() && plan.suite_file.empty() && plan.input.empty() &&
                          !plan.names_model();
    if (!is_whole) return {};
    return device_sweeps(options.choice, plan.level);
}

// The part that this process does. A launcher that nobody follows is named.
Expected<session::Shard> part_of(const session::PlanOptions& plan) {
    const session::Environment environment = session::process_environment();
    auto shard = session::shard_of(plan.shard, environment);
    const bool is_whole = shard && shard.value().count == 1;
    const std::string ignored =
        is_whole && plan.shard != "auto" ? session::ignored_shard(environment) : std::string();
    if (!ignored.empty()) std::fprintf(stderr, "mxcheck: %s\n", ignored.c_str());
    if (shard && ignored.empty()) session::acknowledge_shard(environment);
    return shard;
}

// What needs no device and takes no time.
Status check_plan(const RunOptions& options) {
    if (options.plan.suite != sweep_suite) return session::check_plan(options.plan);
    if (!sweeps_of(options).empty()) return success();
    return bad_input("there are no sweeps in this run: " + who_has_sweeps() +
                     ", and --dialect, --format, --input leave them out");
}

Expected<std::vector<PlannedCase>> cases_of(const RunOptions& options, Sources& sources) {
    if (options.plan.suite == sweep_suite) return std::vector<PlannedCase>();
    return session::planned(options.plan, sources);
}

// The devices of this program stand being opened many times; of others nobody knows.
std::size_t jobs_of(const RunOptions& options) {
    if (options.jobs != 0) return options.jobs;
    const DeviceRegistry registry = built_in_devices();
    const auto& known = registry.list();
    const bool is_ours = options.choice.command.empty() &&
                         std::any_of(known.begin(), known.end(), [&](const DeviceSource& source) {
                             return source.name == options.choice.device;
                         });
    const bool is_long = options.plan.level != "smoke";
    return is_ours && is_long ? jobs_for_cores() : 1;
}

// --rtl FILE is --device rtl:FILE.
Status take_design(RunOptions& options) {
    if (options.design.empty()) return success();
    if (options.choice.device != DeviceChoice().device || !options.choice.command.empty())
        return bad_input("--rtl '" + options.design + "' and '" + shown_name(options.choice) +
                         "' are two devices; name one");
    options.choice.device = "rtl:" + options.design;
    return success();
}

int run(RunOptions& options) {
    if (const Status taken = take_design(options); !taken) return fail_with(taken.error());
    if (const Status jobs = check_jobs(options.jobs); !jobs) return fail_with(jobs.error());
    const Status known =
        check_name("algorithms", options.algorithms, std::vector<std::string>{"default", "all"});
    if (!known) return fail_with(known.error());
    Sources sources;
    const auto shard = part_of(options.plan);
    if (!shard) return fail_with(shard.error());
    if (const Status fits = check_plan(options); !fits) return fail_with(fits.error());
    auto opened = open_device(options.choice, options.timeout);
    if (!opened) return fail_with(opened.error());
    auto cases = cases_of(options, sources);
    if (!cases) return fail_with(cases.error());
    std::optional<Client> first = std::move(opened).value();
    if (options.algorithms == "all")
        cases = session::by_every_algorithm(std::move(cases).value(), *first);
    const std::string out = session::part_folder(options.out, shard.value());
    session::Campaign campaign{results_folder(out),
                               options.resume,
                               device_argument(options.choice),
                               std::move(cases).value(),
                               {}};
    campaign.run.header = header_of(options, shard.value(), *first);
    campaign.tasks = session::sweep_tasks(sweeps_of(options), sweep::find_gpu);
    if (const Status taken = session::take_waivers(campaign, options.waivers, complain); !taken)
        return fail_with(taken.error());
    if (const Status taken = session::take_demands(campaign, options.demands); !taken)
        return fail_with(taken.error());
    if (const Status taken = session::take_baseline(campaign, options.baseline, shard.value());
        !taken)
        return fail_with(taken.error());
    session::take_shard(campaign, shard.value());
    campaign.reproducible = options.reproducible;
    campaign.timeouts_max = options.timeouts_max;
    campaign.jobs = jobs_of(options);
    if (campaign.jobs > 1) first.reset();
    const Opener open = [&options, &first]() -> Expected<Client> {
        if (first) return *std::exchange(first, std::nullopt);
        return open_device(options.choice, options.timeout);
    };
    const int code = run_campaign(std::move(campaign), open, sources);
    if (out != options.out && code != exit_usage)
        std::printf("part %s is in %s; mxcheck merge %s joins the parts\n",
                    text_of(shard.value()).c_str(), out.c_str(), shell_quoted(options.out).c_str());
    return code;
}

}  // namespace

Command run_command() {
    auto o = std::make_shared<RunOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back(
        {"--rtl", "DESIGN.toml: a hardware design, as --device rtl:DESIGN.toml", &o->design});
    for (Option& option : options_of(o->plan)) options.push_back(std::move(option));
    for (Option& option : options_of(o->waivers)) options.push_back(std::move(option));
    for (Option& option : options_of(o->demands)) options.push_back(std::move(option));
    options.push_back(baseline_option(o->baseline));
    options.push_back({"--out",
                       "folder for results.jsonl and the reports; a part of --shard has its own in "
                       "it, shard-I-of-N",
                       &o->out});
    options.push_back({"--max-timeouts",
                       "so many cases of an operation in a row without an answer in time, and the "
                       "rest of it is not asked (untested); 0: ask for ever",
                       &o->timeouts_max});
    options.push_back(
        {"--jobs",
         "cases at once, each with a device of its own (default 1; for the devices of "
         "list devices one per core, but at level smoke)",
         &o->jobs});
    options.push_back({"--algorithms",
                       "default or all: GEMMs as the device chooses, or by every algorithm that it "
                       "lists",
                       &o->algorithms});
    options.push_back({"--resume", "go on where an interrupted run in --out stopped", &o->resume});
    options.push_back(
        {"--reproducible",
         "results.jsonl gets the same bytes each time, in parts or not: no times, and "
         "no time spared on later failures",
         &o->reproducible});
    return {"run", "diff a device against the oracle, bit for bit",
            "mxcheck run --device ./mydev.so --dialect nv --level quick --out out",
            std::move(options), [o] { return run(*o); }};
}

}  // namespace mx::cli
