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
#include "conformance/session/shard.hpp"

namespace mx::cli {
namespace {

struct MergeOptions {
    std::vector<std::string> folders;
    std::string out;  // "": the one folder that holds the parts, or "out"
    std::string baseline;
};

// A part that was killed before its first case leaves the record of an earlier run beside it.
Expected<session::ShardRun> read_shard(const std::string& folder, const std::string& out) {
    std::error_code error;
    if (std::filesystem::equivalent(folder, out, error))
        return bad_input("--out " + out + " is one of the shards; name another folder");
    if (const std::string begun = session::new_results_path(folder);
        std::filesystem::exists(begun, error))
        return bad_input(begun + ": this part was begun anew and has no case; " +
                         "mxcheck run --resume goes on");
    const std::string path = session::results_path(folder);
    auto run = results::read_results(path);
    if (!run) return run.error();
    return session::ShardRun{path, std::move(run).value()};
}

Expected<std::vector<session::ShardRun>> read_shards(const MergeOptions& options) {
    std::vector<session::ShardRun> shards;
    for (const std::string& folder : options.folders)
        for (const std::string& part : session::part_folders(folder)) {
            auto shard = read_shard(part, options.out);
            if (!shard) return shard.error();
            shards.push_back(std::move(shard).value());
        }
    return shards;
}

// Of parts in one folder the whole lies in that folder.
std::string out_of(const MergeOptions& options) {
    if (!options.out.empty()) return options.out;
    const bool holds_parts =
        options.folders.size() == 1 &&
        session::part_folders(options.folders[0]).front() != options.folders[0];
    return holds_parts ? options.folders[0] : "out";
}

Status write(const results::Run& run, const std::string& out) {
    if (const Status folder = session::prepare_folder(out); !folder) return folder;
    auto writer = session::FolderRecord::begin(results_folder(out), run.header, complain);
    if (!writer) return writer.error();
    for (const results::CaseResult& result : run.cases)
        if (const Status written = writer.value().append(result); !written) return written;
    return writer.value().finish(run.footer);
}

int merge(MergeOptions options) {
    options.out = out_of(options);
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
            "mxcheck merge out",
            {{"DIR", "the --out of the shards, or the folders of all shards in any order",
              &o->folders, true},
             {"--out",
              "folder for results.jsonl and the reports (default: DIR where one holds all "
              "shards, else out)",
              &o->out},
             baseline_option(o->baseline)},
            [o] { return merge(*o); },
            false};
}

}  // namespace mx::cli
