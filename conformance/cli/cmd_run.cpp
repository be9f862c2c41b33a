// mxcheck run: the cases of a level against a device.
#include <memory>

#include "conformance/cli/campaign.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/session.hpp"

namespace mx::cli {
namespace {

struct RunOptions {
    DeviceChoice choice;
    PlanOptions plan;
    std::string out = "out";
    std::uint64_t timeout = 60;
    bool resume = false;
};

// The tables, and the files that decide the answers: --resume compares the hashes, and must not mix
// the answers to two inputs or of two builds of a plug-in.
void add_hashes(const RunOptions& options, std::vector<results::Field>& hashes) {
    if (!options.plan.input.empty()) hashes.push_back({"input", file_hash(options.plan.input)});
    if (!options.plan.suite_file.empty())
        hashes.push_back({"suite file", file_hash(options.plan.suite_file)});
    const auto device = device_source(options.choice);
    if (device && !device.value().path.empty())
        hashes.push_back({"plug-in", file_hash(device.value().path)});
}

results::RunHeader header_of(const RunOptions& options, const IsolatedDevice& device) {
    const PlanOptions& plan = options.plan;
    results::RunHeader header = new_header();
    header.level = plan.level;
    header.suites = plan.input.empty() ? plan.suite : "input " + plan.input;
    header.dialects = list_text(plan.dialects);
    header.seed = plan.seed;
    header.shard = plan.shard;
    header.device = shown_name(options.choice);
    for (const auto& [key, value] : device.facts()) header.device_facts.push_back({key, value});
    add_hashes(options, header.table_hashes);
    const std::string device_option =
        options.choice.command.empty() ? "--device=" : "--device-cmd=";
    header.argv = {"mxcheck",
                   "run",
                   device_option + header.device,
                   "--level=" + plan.level,
                   "--suite=" + plan.suite,
                   "--seed=" + std::to_string(plan.seed),
                   "--shard=" + plan.shard};
    if (!plan.dialects.empty()) header.argv.push_back("--dialect=" + header.dialects);
    if (!plan.formats.empty()) header.argv.push_back("--format=" + list_text(plan.formats));
    if (!plan.suite_file.empty()) header.argv.push_back("--suite-file=" + plan.suite_file);
    if (!plan.input.empty()) header.argv.push_back("--input=" + plan.input);
    return header;
}

int run(const RunOptions& options) {
    Sources sources;
    auto cases = planned(options.plan, sources);
    if (!cases) return fail_with(cases.error());
    auto device = open_device(options.choice, options.timeout);
    if (!device) return fail_with(device.error());
    Campaign campaign{
        options.out, options.resume, device_argument(options.choice), std::move(cases).value(), {}};
    campaign.run.header = header_of(options, device.value());
    const Asker ask = [&device](const Case&, const Question& question) {
        return device.value().ask(question);
    };
    return conduct(std::move(campaign), ask, sources);
}

}  // namespace

Command run_command() {
    auto o = std::make_shared<RunOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    for (Option& option : options_of(o->plan)) options.push_back(std::move(option));
    options.push_back({"--out", "folder for results.jsonl and the reports", &o->out});
    options.push_back({"--resume", "go on where an interrupted run in --out stopped", &o->resume});
    return {"run", "diff a device against the oracle, bit for bit",
            "mxcheck run --device ./mydev.so --dialect nv --level quick --out out",
            std::move(options), [o] { return run(*o); }};
}

}  // namespace mx::cli
