// mxcheck replay: one case again, from the line that a failure printed.
#include <cstdio>
#include <memory>

#include "conformance/case/fields.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/console.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/run/sweep_result.hpp"
#include "conformance/session/capture.hpp"
#include "conformance/session/pack.hpp"
#include "conformance/session/sweep_tasks.hpp"
#include "conformance/session/waiving.hpp"

namespace mx::cli {
namespace {

struct ReplayOptions {
    std::string case_text;
    DeviceChoice choice;
    std::string answers;  // recorded ones, instead of a device
    std::uint64_t timeout = 60;
    session::WaiverOptions waivers;
};

int show(const results::CaseResult& value, const std::string& device_argument) {
    print_case(value, value.mismatches.size(), device_argument);
    std::printf("%s: %s\n", std::string(results::name_of(value.verdict)).c_str(),
                value.case_text.c_str());
    if (value.elements + value.scales == 0)
        std::printf("nothing was compared");
    else
        std::printf("%llu elements and %llu scales compared, %llu and %llu differ",
                    static_cast<unsigned long long>(value.elements),
                    static_cast<unsigned long long>(value.scales),
                    static_cast<unsigned long long>(value.mismatched_elements),
                    static_cast<unsigned long long>(value.mismatched_scales));
    const bool is_refused = value.verdict == results::Verdict::not_supported;
    std::printf("%s%s%s\n", value.reason.empty() ? "" : ": ",
                is_refused && !value.reason.empty() ? "the device does not do this: " : "",
                value.reason.c_str());
    return number_of(session::outcome_of({&value, 1}, true));
}

// What a run records of a sweep is no case, but can be replayed like one.
int replay_sweep(const std::string& text, const DeviceChoice& choice) {
    std::vector<sweep::GpuSweep> sweeps = sweep::gpu_sweeps();
    for (sweep::GpuSweep& sweep : device_sweeps(choice, "full")) sweeps.push_back(std::move(sweep));
    for (const sweep::GpuSweep& sweep : sweeps) {
        if (text_of(sweep) != text) continue;
        const auto result = session::sweep_tasks({sweep}, sweep::find_gpu).front().run();
        if (!result) return fail_with(result.error());
        return result.value() ? show(*result.value(), "") : exit_incomplete;
    }
    return fail_with({ErrorKind::bad_input,
                      "no sweep is written '" + text +
                          "'; most belong to the device that --device names: " + who_has_sweeps()});
}

// Who answers, and how the user calls that.
struct Answerer {
    Client client;
    std::string name, argument;
};

// Asks the case and prints what came of it.
int judge(const PlannedCase& planned, Answerer answerer, const session::WaiverOptions& options) {
    const auto waivers = session::waivers_of(options, answerer.name, {print(planned.c)}, complain);
    if (!waivers) return fail_with(waivers.error());
    Sources sources;
    Runner runner(std::move(answerer.client), sources, {answerer.argument});
    auto result = runner.run(planned);
    if (!result) return fail_with(result.error());
    excuse(waivers.value(), result.value());
    return show(result.value(), answerer.argument);
}

// A case may have been judged by another dialect or model than the capture says.
session::CaptureOptions captured_as(const Case& c) {
    if (is_gemm(c)) return {.model = std::string(name_of(c.gemm.model))};
    return {.dialect = dialect_name(c)};
}

int replay(const ReplayOptions& options) {
    if (options.case_text.starts_with("sweep "))
        return replay_sweep(options.case_text, options.choice);
    const auto parsed = parse_case(options.case_text);
    if (!parsed) return fail_with(parsed.error());
    const PlannedCase planned{"replay", parsed.value()};
    if (session::is_captured(options.answers)) {
        const auto capture = session::Capture::read(options.answers, captured_as(parsed.value()));
        if (!capture) return fail_with(capture.error());
        return judge(planned,
                     {capture.value().client(), options.answers,
                      " --answers " + shell_quoted(options.answers)},
                     options.waivers);
    }
    if (!options.answers.empty()) {
        const auto answers = session::RecordedAnswers::read(options.answers);
        if (!answers) return fail_with(answers.error());
        return judge(planned,
                     {answers.value().client(), options.answers,
                      " --answers " + shell_quoted(options.answers)},
                     options.waivers);
    }
    const auto client = open_device(options.choice, options.timeout);
    if (!client) return fail_with(client.error());
    const int code = judge(
        planned, {client.value(), shown_name(options.choice), device_argument(options.choice)},
        options.waivers);
    return closed(client.value(), code);
}

}  // namespace

Command replay_command() {
    auto o = std::make_shared<ReplayOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back({"CASE", "the case, as printed with a failure", &o->case_text, true});
    options.push_back({"--answers",
                       "recorded answers, or a folder of captured calls, as check reads them, "
                       "instead of a device",
                       &o->answers});
    for (Option& option : options_of(o->waivers)) options.push_back(std::move(option));
    return {"replay", "run exactly one case again",
            "mxcheck replay 'quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie "
            "index=499' --device ./mydev.so",
            std::move(options), [o] { return replay(*o); }};
}

}  // namespace mx::cli
