// mxcheck report: render a results file again.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/report_files.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/results/results_file.hpp"
#include "reports/model/summary.hpp"

namespace mx::cli {
namespace {

int report(const std::string& folder) {
    const auto path = std::filesystem::path(folder) / "results.jsonl";
    const auto run = results::read_results(path.string());
    if (!run) return fail_with(run.error());
    const auto files = write_report_files(run.value(), folder);
    if (!files) {
        complain(files.error().message);
        return exit_usage;
    }
    for (const std::string& file : files.value()) std::printf("wrote %s\n", file.c_str());
    std::printf("%s\n", reports::summarize(run.value()).headline.c_str());
    return exit_conformant;
}

}  // namespace

Command report_command() {
    auto folder = std::make_shared<std::string>("out");
    return {"report",
            "results to HTML, Markdown and JUnit XML",
            "mxcheck report out",
            {{"DIR", "the folder that holds results.jsonl", folder.get()}},
            [folder] { return report(*folder); }};
}

}  // namespace mx::cli
