// mxcheck fuzz: a search for inputs on which a device is wrong, whatever the device is.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/console.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/progress.hpp"
#include "fuzz/search/replay.hpp"
#include "fuzz/search/store.hpp"
#include "fuzz/search/workers.hpp"

namespace mx::cli {
namespace {

struct FuzzOptions {
    DeviceChoice choice;
    std::uint64_t timeout = 60;
    std::string time;
    std::uint64_t blocks = 0;
    std::uint64_t seed = 0;
    std::uint64_t jobs = 1;
    std::vector<std::string> operations, dialects, formats, types;
    std::string folder = "mxcheck-fuzz";
    bool resumes = false;
    bool stops_at_first = false;
};

constexpr std::uint64_t jobs_max = 256;

// "90s", "10m", "2h", "500ms"; a bare number counts seconds.
Expected<std::chrono::milliseconds> parse_time(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, number);
    const std::string name(unit, end);
    const std::uint64_t factor = name == "ms"                  ? 1
                                 : name.empty() || name == "s" ? 1000
                                 : name == "m"                 ? 60'000
                                 : name == "h"                 ? 3'600'000
                                                               : 0;
    constexpr std::uint64_t longest = 30ull * 24 * 3'600'000;
    if (error != std::errc{} || factor == 0 || number == 0 || number > longest / factor)
        return bad_input("--time '" + text + "' is no time such as 30s, 10m or 2h, up to 720h");
    return std::chrono::milliseconds(number * factor);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text.empty() ? "all" : text;
}

std::string scope_of(const FuzzOptions& o) {
    return "device " + shown_name(o.choice) + ", seed " + std::to_string(o.seed) + ", jobs " +
           std::to_string(o.jobs) + ", operations " + listed(o.operations) + ", formats " +
           listed(o.formats) + ", dialects " + listed(o.dialects) + ", inputs " + listed(o.types);
}

// A name that matches nothing is a slip of the finger.
Status check_globs(std::string_view kind, const std::vector<std::string>& globs,
                   const std::vector<std::string>& names) {
    for (const std::string& glob : globs) {
        const auto matches = [&glob](const std::string& name) { return matches_glob(glob, name); };
        if (std::ranges::none_of(names, matches)) return check_name(kind, glob, names);
    }
    return success();
}

// Names that stand in the table and that no theme has yet.
Status check_searched(std::string_view kind, const std::vector<std::string>& globs,
                      const std::vector<std::string>& searched,
                      const std::vector<std::string>& all) {
    for (const std::string& glob : globs) {
        const auto matches = [&glob](const std::string& name) { return matches_glob(glob, name); };
        if (std::ranges::none_of(searched, matches) && std::ranges::any_of(all, matches))
            return bad_input(
                "fuzz does not search " + std::string(kind) + " '" + glob +
                "' yet: it asks for blocks that stand alone, and so for no rotation and no "
                "block that is the whole tensor");
    }
    return success();
}

Status check_options(const FuzzOptions& o) {
    std::vector<std::string> formats = block_format_names();
    for (const std::string& name : format_names(OperationKind::convert)) formats.push_back(name);
    std::vector<std::string> formats_searched, dialects_searched;
    for (const Case& theme : fuzz::list_themes({})) {
        formats_searched.push_back(format_name(theme));
        dialects_searched.push_back(dialect_name(theme));
    }
    const auto checks = {
        check_searched("format", o.formats, formats_searched, block_format_names()),
        check_searched("dialect", o.dialects, dialects_searched, quantizer_names()),
        check_globs("operation", o.operations,
                    {"quantize", "encode_scale", "dequantize", "convert"}),
        check_globs("format", o.formats, formats),
        check_globs("dialect", o.dialects, quantizer_names()),
        check_globs("input type", o.types, type_names()),
    };
    for (const Status& status : checks)
        if (!status) return status;
    if (o.jobs == 0 || o.jobs > jobs_max)
        return bad_input("--jobs '" + std::to_string(o.jobs) + "' is not from 1 to " +
                         std::to_string(jobs_max));
    if (!o.time.empty())
        if (const auto time = parse_time(o.time); !time) return time.error();
    return success();
}

Expected<fuzz::FuzzPlan> plan_of(const FuzzOptions& o) {
    fuzz::FuzzPlan plan{
        [o] { return open_device(o.choice, o.timeout); }, {}, o.folder, scope_of(o)};
    plan.themes = fuzz::list_themes({o.operations, o.formats, o.dialects, o.types});
    if (plan.themes.empty())
        return bad_input(
            "there is nothing to search: no operation goes together with these formats, "
            "dialects and inputs");
    plan.seed = o.seed;
    plan.workers = o.jobs;
    plan.blocks = o.blocks;
    plan.time = std::chrono::seconds(60);
    if (o.blocks > 0) plan.time = std::chrono::milliseconds(0);
    if (!o.time.empty()) plan.time = parse_time(o.time).value();
    plan.stops_at_first = o.stops_at_first;
    plan.resumes = o.resumes;
    return plan;
}

std::string number(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

// "3,412 of 3,655 (93.3 %)"
std::string share_text(std::uint64_t part, std::uint64_t whole) {
    char percent[32];
    std::snprintf(
        percent, sizeof percent, "%.1f %%",
        whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return number(part) + " of " + number(whole) + " (" + percent + ")";
}

void print_summary(const fuzz::FuzzPlan& plan, const fuzz::FuzzOutcome& outcome) {
    const fuzz::CoverageTotals totals = fuzz::totals_of(outcome.coverage);
    const double rate =
        outcome.seconds > 0 ? static_cast<double>(outcome.counts.blocks) / outcome.seconds : 0;
    std::printf(
        "%s blocks in %s calls, %s%s; seed %llu, %llu worker%s%s\n",
        number(outcome.counts.blocks).c_str(), number(outcome.counts.calls).c_str(),
        duration_text(outcome.seconds).c_str(),
        plan.resumes
            ? " and a search before"
            : (", " + number(static_cast<std::uint64_t>(rate)) + " blocks a second").c_str(),
        static_cast<unsigned long long>(plan.seed), static_cast<unsigned long long>(plan.workers),
        plan.workers == 1 ? "" : "s", outcome.interrupted ? "; INTERRUPTED, --resume goes on" : "");
    std::printf(
        "themes searched (operation, format, dialect, type): %s of %s; the device does not "
        "do the rest, or the search did not get to it\n",
        number(totals.themes).c_str(), number(outcome.coverage.size()).c_str());
    std::printf("decisions reached: %s\n", share_text(totals.reached, totals.to_reach).c_str());
    std::string names;
    for (const std::string_view name : totals.in_no_theme)
        names += (names.empty() ? "" : ", ") + std::string(name);
    if (!names.empty()) std::printf("  in no theme: %s\n", names.c_str());
    if (outcome.counts.deviations > 0)
        std::printf("answers that deviate where the source leaves them open: %s calls\n",
                    number(outcome.counts.deviations).c_str());
    if (totals.variants > 0)
        std::printf("wrong rules that these inputs part from the right ones: %s\n",
                    share_text(totals.parted, totals.variants).c_str());
}

fuzz::Replayer replayer_of(const FuzzOptions& o) {
    return {[o] { return open_device(o.choice, o.timeout); }, device_argument(o.choice)};
}

// Stores a find and shows it as a replay would.
results::CaseResult show(const FuzzOptions& o, const fuzz::Found& found) {
    const std::string path = fuzz::find_path(o.folder, found.find);
    if (const Status stored = fuzz::store_find(path, found); !stored)
        complain(stored.error().message);
    results::CaseResult result;
    result.verdict = fuzz::verdict_of(found.find.outcome);
    std::printf("\nFOUND %s", found.find.kind.c_str());
    if (!found.find.cases.empty() && found.find.lanes_not_zero >= 0)
        std::printf("; shrunk to %d element%s not zero in %llu calls", found.find.lanes_not_zero,
                    found.find.lanes_not_zero == 1 ? "" : "s",
                    static_cast<unsigned long long>(found.find.calls));
    std::printf("; %s\n", path.c_str());
    if (found.find.cases.empty()) {
        std::printf(
            "  no case is written down: it shows only among what was asked before it, or the "
            "search ended first; seed %llu, worker %llu, round %llu\n",
            static_cast<unsigned long long>(found.round.seed),
            static_cast<unsigned long long>(found.round.worker),
            static_cast<unsigned long long>(found.round.number));
        return result;
    }
    if (found.find.cases.size() > 1)
        std::printf("  after another case of the same device; the file has both\n");
    const auto again = fuzz::replay(replayer_of(o), found.find.cases);
    if (!again) {
        std::printf("  could not be asked again: %s\n", again.error().message.c_str());
        return result;
    }
    if (results::may_pass(again.value().verdict)) {
        std::printf("  does not fail again on a device just opened\n");
        return result;
    }
    print_case(again.value(), 3, device_argument(o.choice));
    if (again.value().mismatches.empty())
        std::printf("  %s: %s\n  mxcheck replay %s%s\n",
                    std::string(results::name_of(again.value().verdict)).c_str(),
                    again.value().reason.c_str(),
                    shell_quoted(print(found.find.cases.back())).c_str(),
                    device_argument(o.choice).c_str());
    return again.value();
}

// Failures by the file that holds their cases.
using Failing = std::map<std::string, results::CaseResult>;

// What earlier searches left in the folder, asked again.
Expected<Failing> ask_remembered(const FuzzOptions& o) {
    const auto remembered = fuzz::replay_remembered(replayer_of(o), o.folder);
    if (!remembered) return remembered.error();
    Failing failing;
    for (const auto& [path, result] : remembered.value()) {
        const bool passes = results::may_pass(result.verdict);
        std::printf("remembered %s: %s\n", path.c_str(),
                    passes ? "fails no longer" : "still fails");
        if (!passes) failing.emplace(path, result);
    }
    return failing;
}

int report(const FuzzOptions& o, const fuzz::FuzzPlan& plan, const fuzz::FuzzOutcome& outcome,
           Failing by_file) {
    for (const fuzz::Found& found : outcome.finds)
        by_file[fuzz::find_path(o.folder, found.find)] = show(o, found);
    std::vector<results::CaseResult> failing;
    for (const auto& [path, result] : by_file) failing.push_back(result);
    std::printf("%s", outcome.finds.empty() ? "" : "\n");
    print_summary(plan, outcome);
    for (const std::string& reason : outcome.given_up)
        std::printf("stopped early: %s\n", reason.c_str());
    if (!failing.empty()) {
        std::printf("%zu kind%s of failure\n", failing.size(), failing.size() == 1 ? "" : "s");
        return number_of(session::outcome_of(failing, true));
    }
    if (outcome.counts.blocks == 0) {
        complain("nothing was tested");
        return exit_nothing_tested;
    }
    std::printf("No fault found\n");
    return outcome.interrupted ? exit_incomplete : exit_conformant;
}

int search(const FuzzOptions& o) {
    if (const Status sound = check_options(o); !sound) return fail_with(sound.error());
    const auto plan = plan_of(o);
    if (!plan) return fail_with(plan.error());
    // Before anything is searched: does it open at all?
    if (const auto client = plan.value().open(); !client) return fail_with(client.error());
    if (const Status made = fuzz::make_finds_folder(o.folder); !made)
        return fail_with(made.error());
    catch_interrupts();
    auto failing = ask_remembered(o);
    if (!failing) return fail_with(failing.error());
    const auto outcome = [&plan] {
        Progress progress("blocks", plan.value().blocks);
        return fuzz::run_workers(
            plan.value(), {interrupted, [&progress](std::uint64_t blocks, std::uint64_t finds) {
                               progress.update(blocks, std::to_string(finds) + " found");
                           }});
    }();
    if (!outcome) return fail_with(outcome.error());
    return report(o, plan.value(), outcome.value(), std::move(failing).value());
}

}  // namespace

Command fuzz_command() {
    auto o = std::make_shared<FuzzOptions>();
    std::vector<Option> options = options_of(o->choice, o->timeout);
    options.push_back(
        {"--time", "how long to search: 30s, 10m, 2h; 60s unless --blocks is given", &o->time});
    options.push_back({"--blocks",
                       "how many blocks to ask instead: the same number and seed find "
                       "the same",
                       &o->blocks});
    options.push_back({"--seed", "of the random numbers", &o->seed});
    options.push_back({"--jobs", "processes, each with a device of its own", &o->jobs});
    options.push_back({"--operation", "quantize, encode_scale, dequantize, convert, or a pattern",
                       &o->operations});
    options.push_back({"--dialect", "dialects, or patterns such as 'torch*'", &o->dialects});
    options.push_back({"--format", "formats, or patterns", &o->formats});
    options.push_back({"--input", "f32, bf16, f16; of dequantize the output", &o->types});
    options.push_back({"--corpus", "folder for the state and the finds", &o->folder});
    options.push_back({"--resume", "go on where the search in that folder stopped", &o->resumes});
    options.push_back({"--first", "stop at the first find", &o->stops_at_first});
    return {"fuzz", "search for inputs on which a device is wrong, shrink and store them",
            "mxcheck fuzz --device ./mydev.so --time 10m --jobs 8", std::move(options),
            [o] { return search(*o); }};
}

}  // namespace mx::cli
