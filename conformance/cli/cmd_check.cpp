// mxcheck check: recorded answers, or captured calls, judged as if their device were here.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "conformance/case/fields.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/capture.hpp"
#include "conformance/session/pack.hpp"
#include "conformance/session/provenance.hpp"

namespace mx::cli {
namespace {

struct CheckOptions {
    std::vector<std::string> files;  // [PACK] ANSWERS, or a folder of captured calls
    session::CaptureOptions capture;
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

// `answers` is the file whose hash says which answers they are.
results::RunHeader header_of(const CheckOptions& options, const Facts& facts,
                             const std::string& answers) {
    results::RunHeader header = new_header();
    header.argv = {"mxcheck", "check"};
    for (const std::string& file : options.files) header.argv.push_back(file);
    header.level = "recorded";
    header.suites = options.files.front();
    header.dialects = options.capture.dialect.empty() ? "all" : options.capture.dialect;
    header.device = options.files.back();
    for (const auto& [key, value] : facts) header.device_facts.push_back({key, value});
    header.table_hashes.push_back({"answers", session::file_hash(answers)});
    return header;
}

// Judges the cases of a campaign that has its header. What should be judged and cannot be makes a
// run incomplete that is otherwise right.
int judge(const CheckOptions& options, session::Campaign campaign, const Client& client,
          const std::vector<std::string>& gaps = {}) {
    if (const Status taken = session::take_waivers(campaign, options.waivers, complain); !taken)
        return fail_with(taken.error());
    if (const Status taken = session::take_demands(campaign, options.demands); !taken)
        return fail_with(taken.error());
    for (const std::string& gap : gaps)
        campaign.run.header.demands.push_back({session::gap_key, gap});
    if (const Status taken = session::take_baseline(campaign, options.baseline, {}); !taken)
        return fail_with(taken.error());
    Sources sources;
    return run_campaign(
        std::move(campaign), [&client] { return Expected(client); }, sources);
}

session::Campaign campaign_of(const CheckOptions& options, const std::vector<Case>& cases) {
    return {results_folder(options.out),
            false,
            " --answers " + shell_quoted(options.files.back()),
            planned(cases),
            {}};
}

int check_capture(const CheckOptions& options) {
    const std::string& folder = options.files.front();
    if (options.files.size() > 1)
        return fail_with(bad_input("a folder of captured calls is given alone"));
    const auto capture = session::Capture::read(folder, options.capture);
    if (!capture) return fail_with(capture.error());
    for (const std::string& line : capture.value().left_out())
        std::printf("captured %s\n", line.c_str());
    if (capture.value().cases().empty()) {
        for (const std::string& gap : capture.value().gaps()) complain("not judged: " + gap);
        complain(folder + " holds no call that can be judged");
        return exit_nothing_tested;
    }
    session::Campaign campaign = campaign_of(options, capture.value().cases());
    campaign.run.header =
        header_of(options, capture.value().facts(), session::manifest_path(folder));
    return judge(options, std::move(campaign), capture.value().client(), capture.value().gaps());
}

int check(const CheckOptions& options) {
    if (session::is_captured(options.files.front())) return check_capture(options);
    if (options.capture != session::CaptureOptions())
        return fail_with(bad_input("--dialect and --model are for a folder of captured calls; " +
                                   options.files.front() +
                                   " is none, and its requests name theirs"));
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
    session::Campaign campaign =
        campaign_of(options, is_alone ? answers.value().cases() : asked.value());
    campaign.run.header = header_of(options, answers.value().facts(), options.files.back());
    return judge(options, std::move(campaign), answers.value().client());
}

}  // namespace

Command check_command() {
    auto o = std::make_shared<CheckOptions>();
    std::vector<Option> options{
        {"FILE",
         "the pack and its answers; the answers alone; or a folder that the Python package's "
         "capture wrote",
         &o->files, true},
        {"--dialect", "of captured calls: the dialect that they are held to, whatever they say",
         &o->capture.dialect},
        {"--model",
         "of captured products: how they are judged, as a case has it (bounded, any, "
         "a row of list models)",
         &o->capture.model},
        {"--out", "folder for results.jsonl and the reports", &o->out}};
    for (Option& option : options_of(o->waivers)) options.push_back(std::move(option));
    for (Option& option : options_of(o->demands)) options.push_back(std::move(option));
    options.push_back(baseline_option(o->baseline));
    return {"check", "judge a file of answers, or captured calls, as if the device were here",
            "mxcheck check ocp.pack ocp.answers --out out\n"
            "  mxcheck check captured/ --dialect nv",
            std::move(options), [o] { return check(*o); }};
}

}  // namespace mx::cli
