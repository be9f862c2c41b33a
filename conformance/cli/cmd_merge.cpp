// mxcheck merge: the shards of one run, joined.
#include <filesystem>
#include <memory>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/conclusion.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/merge.hpp"
#include "conformance/session/results_folder.hpp"

namespace mx::cli {
namespace {

struct MergeOptions {
    std::vector<std::string> folders;
    std::string out = "out";
    std::string baseline;
};

Expected<std::vector<session::ShardRun>> read_shards(const MergeOptions& options) {
    std::vector<session::ShardRun> shards;
    for (const std::string& folder : options.folders) {
        std::error_code error;
        if (std::filesystem::equivalent(folder, options.out, error))
            return Error{ErrorKind::bad_input,
                         "--out " + options.out + " is one of the shards; name another folder"};
        const std::string path = session::results_path(folder);
        auto run = results::read_results(path);
        if (!run) return run.error();
        shards.push_back({path, std::move(run).value()});
    }
    return shards;
}

Status write(const results::Run& run, const std::string& out) {
    if (const Status folder = session::prepare_folder(out); !folder) return folder;
    auto writer = session::FolderRecord::begin(results_folder(out), run.header, complain);
    if (!writer) return writer.error();
    for (const results::CaseResult& result : run.cases)
        if (const Status written = writer.value().append(result); !written) return written;
    return writer.value().finish(run.footer);
}

int merge(const MergeOptions& options) {
    const auto shards = read_shards(options);
    if (!shards) return fail_with(shards.error());
    auto baseline = Expected(session::Baseline());
    if (!options.baseline.empty()) baseline = session::baseline_of(options.baseline);
    if (!baseline) return fail_with(baseline.error());
    const auto run = session::merged(shards.value(), complain,
                                     options.baseline.empty() ? nullptr : &baseline.value());
    if (!run) return fail_with(run.error());
    if (const Status written = write(run.value(), options.out); !written)
        return fail_with(written.error());
    const results::RunFooter& footer = run.value().footer;
    return conclude(run.value(),
                    {options.out, "", duration_text(footer.seconds), footer.exit_code});
}

}  // namespace

Command merge_command() {
    auto o = std::make_shared<MergeOptions>();
    return {"merge",
            "join the shards of one run",
            "mxcheck merge out.0 out.1 out.2 out.3 --out out",
            {{"DIR", "the folders of all shards, in any order", &o->folders, true},
             {"--out", "folder for results.jsonl and the reports", &o->out},
             baseline_option(o->baseline)},
            [o] { return merge(*o); },
            false};
}

}  // namespace mx::cli
