// mxcheck survey: everything about a machine in one command, a folder that others can check, and
// one page. Each step is a command of this very program in a process of its own: what it writes,
// how it resumes and what its exit code means is known, and a crash ends a step, not the survey.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "conformance/cli/bundle.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/own_program.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/cli/survey_steps.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/in_slices.hpp"
#include "conformance/session/every_algorithm.hpp"
#include "conformance/session/results_folder.hpp"
#include "device/host/shared_memory.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"
#include "reports/model/survey.hpp"

namespace mx::cli {
namespace {

namespace fs = std::filesystem;
using results::Survey;
using results::SurveyStep;

struct SurveyOptions {
    std::vector<std::string> devices{"cpu"};
    std::string command;
    std::string out = "survey";
    std::string fuzz_time;
    std::string waivers;
    std::uint64_t timeout = 60;
    bool quick = false;
    bool resume = false;
};

Effort effort_of(const SurveyOptions& options) {
    Effort effort{options.quick, options.fuzz_time, options.waivers, options.timeout};
    if (effort.fuzz_time.empty()) effort.fuzz_time = options.quick ? "20s" : "1m";
    return effort;
}

std::vector<DeviceChoice> choices_of(const SurveyOptions& options) {
    if (!options.command.empty()) return {{.device = "cpu", .command = options.command}};
    std::vector<DeviceChoice> choices;
    for (const std::string& name : options.devices) choices.push_back({.device = name});
    return choices;
}

// "mydev" of "./build/mydev.so:fast=1": a name that a folder can have, no two alike.
std::string folder_name(const DeviceChoice& choice, const std::vector<Subject>& others) {
    const std::string whole = choice.command.empty() ? choice.device : "command";
    std::string name = fs::path(whole.substr(0, whole.find(':'))).stem().string();
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '-') letter = '_';
    if (name.empty()) name = "device";
    const auto is_taken = [&](const std::string& wanted) {
        return std::ranges::any_of(others, [&](const Subject& s) { return s.folder == wanted; });
    };
    std::string free = name;
    for (int number = 2; is_taken(free); ++number) free = name + "-" + std::to_string(number);
    return free;
}

bool lists_algorithms(const Client& client) {
    Sources sources;
    auto cases = session::planned({.level = "smoke", .suite = "gemm"}, sources);
    if (!cases) return false;
    const auto is_named = [](const PlannedCase& planned) {
        return planned.c.gemm.algorithm != "default";
    };
    const auto count = std::ranges::count_if(cases.value(), is_named);
    const auto all = session::by_every_algorithm(std::move(cases).value(), client);
    return std::ranges::count_if(all, is_named) > count;
}

// Sweeps that a run has only at a level which a survey does not run whole.
bool has_maps(const DeviceChoice& choice) {
    return choice.command.empty() && device_sweeps(choice, "full").empty() &&
           !device_sweeps(choice, "exhaustive").empty();
}

// Why a device is not asked the cases of level large: those that it supports want a GPU, and memory
// for the largest of them.
std::string why_no_large(const DeviceChoice& choice, const Client& client) {
    const std::string name = choice.device.substr(0, choice.device.find(':'));
    if (!choice.command.empty() || place_of_device(name) == "host")
        return "no GPU of a device of this program does its work; run --level large asks it";
    Sources sources;
    const auto cases = session::planned({.level = std::string(large_level)}, sources);
    if (!cases) return cases.error().message;
    std::size_t needed = 0;
    for (const PlannedCase& planned : cases.value()) {
        if (!is_judged_in_slices(planned.c)) continue;
        const auto bytes = bytes_of_call(planned.c);
        if (bytes && !client.refuses(question_without_data(planned.c)))
            needed = std::max(needed, bytes.value());
    }
    if (needed == 0) return "the device supports no large case";
    const std::size_t available = available_memory();
    return needed <= available ? ""
                               : "the tensors of a call need " + grouped(needed) + " bytes, and " +
                                     grouped(available) + " are free";
}

struct Surveyed {
    std::vector<Subject> subjects;
    Survey survey;
};

// Opens each device once, so that one that does not open costs nothing but a sentence.
Expected<Surveyed> look_at(const SurveyOptions& options) {
    Surveyed found;
    const results::RunHeader header = new_header();
    const Effort effort = effort_of(options);
    Survey& survey = found.survey;
    survey.program_version = header.program_version;
    survey.commit = header.commit;
    survey.dirty = header.dirty;
    survey.started = header.started;
    survey.effort = options.quick ? "quick" : "full";
    survey.fuzz_time = effort.fuzz_time;
    survey.waivers = effort.waivers;
    survey.environment = header.environment;
    survey.table_hashes = header.table_hashes;
    for (const DeviceChoice& choice : choices_of(options)) {
        const auto client = open_device(choice, options.timeout);
        if (!client) return client.error();
        Subject subject{choice, folder_name(choice, found.subjects)};
        subject.lists_algorithms = lists_algorithms(client.value());
        subject.has_maps = has_maps(choice);
        if (!options.quick) subject.no_large = why_no_large(choice, client.value());
        results::SurveySubject record{subject.folder, shown_name(choice), {}};
        for (const auto& [key, value] : client.value().facts) record.facts.push_back({key, value});
        found.subjects.push_back(std::move(subject));
        survey.subjects.push_back(std::move(record));
    }
    return found;
}

// What must be as it was, so that the pieces make one survey. "" if it is.
std::string difference(const Survey& before, const Survey& now) {
    if (before.commit != now.commit || before.dirty != now.dirty) return "another mxcheck";
    if (before.table_hashes != now.table_hashes) return "other tables";
    if (before.subjects != now.subjects) return "other devices, or other versions of them";
    if (before.effort != now.effort) return "another effort (" + before.effort + ")";
    if (before.fuzz_time != now.fuzz_time) return "another --fuzz-time (" + before.fuzz_time + ")";
    if (before.waivers != now.waivers) return "other waivers";
    return "";
}

// The survey that a folder has begun; what it has is kept.
Status take_earlier(const SurveyOptions& options, Survey& survey) {
    std::error_code ignored;
    const bool is_there = fs::exists(path_in(options.out, survey_name), ignored);
    if (is_there != options.resume)
        return bad_input(options.out + (is_there
                                            ? " holds a survey; --resume goes on with it, --out "
                                              "names another folder"
                                            : " holds no survey that --resume could go on with"));
    if (!options.resume) return success();
    auto earlier = read_survey(options.out);
    if (!earlier) return earlier.error();
    if (const std::string other = difference(earlier.value(), survey); !other.empty())
        return bad_input(options.out + " holds a survey of " + other);
    survey = std::move(earlier).value();
    survey.complete = false;
    // A manifest speaks of a folder that does not change any more.
    fs::remove(path_in(options.out, manifest_name), ignored);
    return success();
}

class Surveyor {
public:
    Surveyor(const SurveyOptions& options, Survey survey, std::vector<PlannedStep> steps)
        : out_(options.out), survey_(std::move(survey)), steps_(std::move(steps)) {}

    int run() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (has_ended(steps_[i])) continue;
            if (interrupted()) return stopped(i);
            const auto ended = run_step(i);
            if (!ended) return fail_with(ended.error());
            if (!ended.value()) return stopped(i);
        }
        return conclude();
    }

private:
    bool has_ended(const PlannedStep& planned) const {
        return std::ranges::any_of(survey_.steps, [&](const SurveyStep& step) {
            return step.title() == planned.step.title();
        });
    }

    std::string place(std::size_t i) const {
        return "step " + std::to_string(i + 1) + " of " + std::to_string(steps_.size()) + ", " +
               steps_[i].step.title();
    }

    int stopped(std::size_t i) const {
        complain("interrupted at " + place(i) + "; the same command with --resume goes on");
        return exit_incomplete;
    }

    // False where it was cut. A step that ended is written down at once.
    Expected<bool> run_step(std::size_t i) {
        const PlannedStep& planned = steps_[i];
        SurveyStep step = planned.step;
        if (!step.not_run.empty()) {
            std::printf("%s: not run, %s\n", place(i).c_str(), step.not_run.c_str());
            survey_.steps.push_back(std::move(step));
            return written();
        }
        std::printf("%s: %s\n", place(i).c_str(), step.asks.c_str());
        std::fflush(stdout);
        const auto start = std::chrono::steady_clock::now();
        const auto is_done = run_commands(planned, step);
        if (!is_done) return is_done.error();
        step.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (!is_done.value()) return false;
        std::error_code ignored;
        if (!planned.scratch.empty()) fs::remove(planned.scratch, ignored);
        std::printf("  %s, exit code %d, %s%s%s\n", std::string(reports::word_of(step)).c_str(),
                    step.exit_code, duration_text(step.seconds).c_str(),
                    step.not_run.empty() ? "" : ": ", step.not_run.c_str());
        survey_.steps.push_back(std::move(step));
        return written();
    }

    // Up to the first that does not end with 0.
    Expected<bool> run_commands(const PlannedStep& planned, SurveyStep& step) const {
        const std::string output = planned.prints_record ? path_in(out_, step.record) : planned.log;
        if (const Status made = session::prepare_folder(fs::path(output).parent_path().string());
            !made)
            return made.error();
        for (std::vector<std::string> command : planned.commands) {
            std::error_code ignored;
            if (!planned.resume.empty() && fs::exists(planned.resumed_file, ignored))
                command.push_back(planned.resume);
            const auto end = run_own_program(command, output);
            if (!end) return end.error();
            const bool was_cut =
                !end.value().signal.empty() || end.value().exit_code == exit_incomplete;
            if (interrupted() && was_cut) return false;
            step.exit_code = end.value().exit_code;
            if (!end.value().signal.empty()) complain(step.title() + " was " + end.value().signal);
            // The record of a run says itself why it compared nothing.
            if (step.exit_code == exit_nothing_tested && !is_run(step))
                step.not_run =
                    printable(end.value().words.empty() ? "nothing was tested" : end.value().words);
            if (step.exit_code != exit_conformant) break;
        }
        return true;
    }

    Expected<bool> written() const {
        const Status status = write_survey(survey_, out_);
        if (!status) return status.error();
        return true;
    }

    // The pages, then the manifest with the digests of all that is there.
    int conclude() {
        survey_.complete = true;
        if (const Status status = write_survey(survey_, out_); !status)
            return fail_with(status.error());
        const auto bundle = bundle_of(out_, survey_);
        if (!bundle) return fail_with(bundle.error());
        const auto pages = pages_of(bundle.value());
        if (!pages) return fail_with(pages.error());
        for (const BundleFile& page : pages.value())
            if (const Status status = write(page); !status) return fail_with(status.error());
        const auto manifest = manifest_of(bundle.value());
        if (!manifest) return fail_with(manifest.error());
        const BundleFile file{manifest_name, results::text_of(manifest.value())};
        if (const Status status = write(file); !status) return fail_with(status.error());
        for (const char* name : {"survey.html", "survey.md", manifest_name})
            std::printf("wrote %s\n", path_in(out_, name).c_str());
        std::printf("SHA-256 of the manifest: %s\n", digest_of(file).c_str());
        std::printf("%s\n", manifest.value().sentence.c_str());
        return manifest.value().exit_code;
    }

    Status write(const BundleFile& file) const {
        return write_atomically(path_in(out_, file.path), {std::as_bytes(std::span(file.text))});
    }

    std::string out_;
    Survey survey_;
    std::vector<PlannedStep> steps_;
};

int survey(const SurveyOptions& options) {
    auto found = look_at(options);
    if (!found) return fail_with(found.error());
    Surveyed& surveyed = found.value();
    if (const Status taken = take_earlier(options, surveyed.survey); !taken)
        return fail_with(taken.error());
    if (const Status made = session::prepare_folder(options.out); !made)
        return fail_with(made.error());
    catch_interrupts();
    if (const Status begun = write_survey(surveyed.survey, options.out); !begun)
        return fail_with(begun.error());
    auto steps = planned_steps(surveyed.subjects, effort_of(options), options.out);
    return Surveyor(options, std::move(surveyed.survey), std::move(steps)).run();
}

}  // namespace

Command survey_command() {
    auto o = std::make_shared<SurveyOptions>();
    return {
        "survey",
        "everything about a machine in one command: a page, and a folder that verify can check",
        "mxcheck survey --device cuda,cublaslt --out survey\n"
        "  mxcheck survey --device ./mydev.so --quick --out survey\n  mxcheck verify survey\n\n"
        "Steps: doctor and selftest; of each device run, every algorithm of its GEMMs, level "
        "large,\n"
        "maps of whole domains, identify, relations, fuzz, recorded answers, bench, accuracy, "
        "training. A\n"
        "step that the device lacks is not run, and the page says why. The exit code is the worst "
        "of\nthe steps' (5, 3, 1, 2, 4 in this order); without a bad one it is 0 only if the run "
        "of "
        "each\ndevice ended with 0, else 77. --quick is no conformance run.",
        {{"--device", "devices: built-in (see list devices) or paths to plug-ins", &o->devices},
         {"--device-cmd", "instead, a command that is a device behind a pipe", &o->command},
         {"--timeout", "seconds that one call of a device may take", &o->timeout},
         {"--out", "folder for everything", &o->out},
         {"--quick", "lower levels, fewer samples: minutes on two cores of a CPU", &o->quick},
         {"--fuzz-time", "how long fuzz searches on each device (default 1m; of --quick 20s)",
          &o->fuzz_time},
         {"--waivers", "TOML file of mismatches that somebody has signed for", &o->waivers},
         {"--resume", "go on where an interrupted survey in --out stopped", &o->resume}},
        [o] { return survey(*o); }};
}

}  // namespace mx::cli
