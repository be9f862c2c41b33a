// mxcheck check: recorded answers, judged as if their device were here.
#include <filesystem>
#include <memory>

#include "conformance/case/fields.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/pack.hpp"
#include "conformance/session/provenance.hpp"

namespace mx::cli {
namespace {

struct CheckOptions {
    std::vector<std::string> files;  // [PACK] ANSWERS
    std::string out = "out";
    session::WaiverOptions waivers;
    session::DemandOptions demands;
    std::string baseline;
};

// What should have been answered, as the pack says it; nothing without one. Read before the
// answers, so that the two are not in memory at once.
Expected<std::vector<Case>> asked_in(const CheckOptions& options) {
    std::vector<Case> cases;
    if (options.files.size() < 2) return cases;
    auto asked = session::read_pack(options.files.front());
    if (!asked) return asked.error();
    for (session::RequestId& request : asked.value()) cases.push_back(std::move(request.c));
    return cases;
}

std::vector<PlannedCase> planned(const std::vector<Case>& cases) {
    std::vector<PlannedCase> planned;
    for (const Case& c : cases) planned.push_back({std::string(name_of(c.operation)), c});
    return planned;
}

results::RunHeader header_of(const CheckOptions& options, const session::RecordedAnswers& answers) {
    results::RunHeader header = new_header();
    header.argv = {"mxcheck", "check"};
    for (const std::string& file : options.files) header.argv.push_back(file);
    header.level = "recorded";
    header.suites = options.files.front();
    header.dialects = "all";
    header.device = options.files.back();
    for (const auto& [key, value] : answers.facts()) header.device_facts.push_back({key, value});
    header.table_hashes.push_back({"answers", session::file_hash(options.files.back())});
    return header;
}

int check(const CheckOptions& options) {
    if (options.files.size() > 2)
        return fail_with({ErrorKind::bad_input, "check takes a pack and its answers, no more"});
    const auto asked = asked_in(options);
    if (!asked) return fail_with(asked.error());
    const auto answers = session::RecordedAnswers::read(options.files.back());
    if (!answers) return fail_with(answers.error());
    const bool is_alone = options.files.size() == 1;
    if (const Status whole = answers.value().is_whole(); !whole && is_alone) {
        complain(whole.error().message);
        return exit_incomplete;
    }
    if (const Status alone = answers.value().stands_alone(); !alone && is_alone)
        return fail_with(alone.error());
    session::Campaign campaign{results_folder(options.out),
                               false,
                               " --answers " + shell_quoted(options.files.back()),
                               planned(is_alone ? answers.value().cases() : asked.value()),
                               {}};
    campaign.run.header = header_of(options, answers.value());
    if (const Status taken = session::take_waivers(campaign, options.waivers, complain); !taken)
        return fail_with(taken.error());
    if (const Status taken = session::take_demands(campaign, options.demands); !taken)
        return fail_with(taken.error());
    if (const Status taken = session::take_baseline(campaign, options.baseline, {}); !taken)
        return fail_with(taken.error());
    Sources sources;
    return run_campaign(
        std::move(campaign), [&answers] { return Expected(answers.value().client()); }, sources);
}

}  // namespace

Command check_command() {
    auto o = std::make_shared<CheckOptions>();
    std::vector<Option> options{
        {"FILE", "the pack and its answers; or the answers alone", &o->files, true},
        {"--out", "folder for results.jsonl and the reports", &o->out}};
    for (Option& option : options_of(o->waivers)) options.push_back(std::move(option));
    for (Option& option : options_of(o->demands)) options.push_back(std::move(option));
    options.push_back(baseline_option(o->baseline));
    return {"check", "judge a file of answers as if its device were here",
            "mxcheck check ocp.pack ocp.answers --out out", std::move(options),
            [o] { return check(*o); }};
}

}  // namespace mx::cli
