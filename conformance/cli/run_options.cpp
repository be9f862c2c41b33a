// See run_options.hpp.
#include "conformance/cli/run_options.hpp"

#include <cstdio>

#include "conformance/cli/conclusion.hpp"
#include "conformance/cli/console.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/report_files.hpp"

namespace mx::cli {
namespace {

// Cases printed in full before the rest is left to the report.
constexpr std::size_t cases_printed_max = 20;
constexpr std::size_t clusters_printed_max = 4;

// What a campaign says while it runs.
class Console {
public:
    Console(std::uint64_t cases, const std::string& device_argument)
        : progress_("cases", cases), device_argument_(device_argument) {}

    session::Listener listener() {
        return {[this](const std::string& sentence) {
                    progress_.clear();
                    complain(sentence);
                },
                [this](const results::CaseResult& result, std::size_t place) {
                    show(result);
                    progress_.update(place + 1,
                                     std::to_string(failed_) + " failing, " + result.suite);
                }};
    }

private:
    void show(const results::CaseResult& result) {
        if (results::may_pass(result.verdict)) return;
        ++failed_;
        if (failed_ > cases_printed_max) return;
        progress_.clear();
        print_case(result, clusters_printed_max, device_argument_);
        if (failed_ == cases_printed_max)
            std::printf("more cases fail; the report will hold them all\n");
    }

    Progress progress_;
    const std::string& device_argument_;
    std::uint64_t failed_ = 0;
};

}  // namespace

std::vector<Option> options_of(session::PlanOptions& plan) {
    return {
        {"--dialect", "only these dialects (default all; see list dialects)", &plan.dialects},
        {"--format", "only these formats (default all; see list formats)", &plan.formats},
        {"--level", "smoke, quick, full or exhaustive; large stands beside these", &plan.level},
        {"--suite", "only suites of this name; * and ? are wildcards", &plan.suite},
        {"--suite-file", "this file instead of the suites", &plan.suite_file},
        {"--seed", "seed of the random data", &plan.seed},
        {"--shard",
         "only part I/N of the cases; auto: the part that a launcher "
         "names (Slurm, MPI, Kubernetes, Bazel, GoogleTest)",
         &plan.shard},
        {"--model",
         "with --suite gemm: judge every GEMM that this row of list models multiplies by it, "
         "bit for bit",
         &plan.model},
        {"--model-file", "the same by a row in a file, as identify --op gemm --search writes it",
         &plan.model_file},
        {"--input", "quantize this .npy or .safetensors instead of the suites", &plan.input}};
}

std::vector<Option> options_of(session::WaiverOptions& options) {
    return {{"--waivers", "TOML file of mismatches that somebody has signed for", &options.file},
            {"--strict", "a waiver that is expired, unmatched or unneeded is an error (2)",
             &options.strict}};
}

std::vector<Option> options_of(session::DemandOptions& options) {
    return {{"--require",
             "FORMAT/OPERATION that must have been compared, or the run is incomplete (4), never "
             "conformant; * and ? are wildcards, and then each that they fit; shards are judged "
             "by merge",
             &options.require},
            {"--max-not-supported",
             "so many cases may be not supported, or the run is incomplete (4); shards are judged "
             "by merge",
             &options.max_not_supported}};
}

Option baseline_option(std::string& folder) {
    return {"--baseline",
            "folder of an earlier run: what passed in it and is now not supported, not run or "
            "open is worse (1); shards are judged by merge",
            &folder};
}

session::ResultsFolder results_folder(const std::string& out) {
    return {out, report_file_names()};
}

results::RunHeader new_header() {
    return session::new_header(this_build());
}

namespace {

// "; a minute: 649.0 million elements, 20.3 million scales": what was asked, answered and compared,
// by the clock. Nothing of a run too short to say.
std::string rate_text(const results::RunFooter& counts, double seconds) {
    constexpr double shortest = 1;
    if (seconds < shortest || counts.elements == 0) return "";
    const auto per_minute = [&](std::uint64_t count, const char* noun) {
        char text[48];
        std::snprintf(text, sizeof text, "%.1f million %s",
                      static_cast<double>(count) * 60e-6 / seconds, noun);
        return std::string(text);
    };
    return "; a minute: " + per_minute(counts.elements, "elements") +
           (counts.scales == 0 ? "" : ", " + per_minute(counts.scales, "scales"));
}

}  // namespace

int run_campaign(session::Campaign campaign, const Opener& open, Sources& sources) {
    const std::string out = campaign.folder.path;
    const std::string device_argument = campaign.device_argument;
    const std::size_t size = campaign.cases.size() + campaign.tasks.size();
    const bool is_whole = !campaign.resume;
    catch_interrupts();
    outlive_readers();
    auto conducted = [&] {
        Console console(size, device_argument);
        return session::conduct(std::move(campaign), open, sources, console.listener());
    }();
    if (!conducted) return fail_with(conducted.error());
    const session::Conducted& ended = conducted.value();
    const std::string rate = is_whole ? rate_text(ended.run.footer, ended.seconds) : "";
    return conclude(ended.run, {out, device_argument, duration_text(ended.seconds) + rate,
                                number_of(ended.outcome)});
}

}  // namespace mx::cli
