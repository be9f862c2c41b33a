// mxcheck report: render a results file again, or compare two benchmarks.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/report_files.hpp"
#include "conformance/cli/results_folder.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/results/results_file.hpp"
#include "reports/model/summary.hpp"
#include "reports/model/throughput.hpp"

namespace mx::cli {
namespace {

int render(const std::string& folder) {
    const auto run = results::read_results(results_path(folder));
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

Expected<results::Bench> bench_of(const std::string& folder) {
    return results::read_bench((std::filesystem::path(folder) / "bench.jsonl").string());
}

std::uint64_t count_of(const reports::SpeedComparison& comparison, reports::Speed speed) {
    std::uint64_t count = 0;
    for (const reports::SpeedRow& row : comparison.rows) count += row.speed == speed ? 1 : 0;
    return count;
}

void print(const reports::SpeedComparison& comparison) {
    for (const std::string& difference : comparison.differences)
        std::printf("differs: %s\n", difference.c_str());
    for (const reports::SpeedRow& row : comparison.rows)
        std::printf("%-9s %-68s %11.1f us %11.1f us  %+.1f %%, noise %.1f %%\n",
                    std::string(reports::name_of(row.speed)).c_str(), row.first->name().c_str(),
                    1e6 * row.first->seconds, 1e6 * row.second->seconds, 100 * (row.ratio - 1),
                    100 * row.floor);
    for (const std::string& name : comparison.only_first)
        std::printf("only in the first: %s\n", name.c_str());
    for (const std::string& name : comparison.only_second)
        std::printf("only in the second: %s\n", name.c_str());
}

// 1 when a row is slower; 4 when none is but some cannot be told; 77 when nothing is in both.
int compare(const std::string& before, const std::string& after) {
    const auto first = bench_of(before);
    if (!first) return fail_with(first.error());
    const auto second = bench_of(after);
    if (!second) return fail_with(second.error());
    const auto compared = reports::compare(first.value(), second.value());
    if (!compared) return fail_with(compared.error());
    const reports::SpeedComparison& comparison = compared.value();
    for (const auto& [bench, folder] : {std::pair(&first, &before), std::pair(&second, &after)})
        if (!bench->value().complete)
            std::printf("%s: this benchmark was interrupted, its rows are not all there\n",
                        folder->c_str());
    print(comparison);
    const std::uint64_t slower = count_of(comparison, reports::Speed::slower);
    const std::uint64_t uncertain = count_of(comparison, reports::Speed::uncertain);
    std::printf(
        "%zu rows: %llu SAME, %llu FASTER, %llu SLOWER, %llu UNCERTAIN; noise floor %.1f "
        "%% or the row's own, measured by each run against itself\n",
        comparison.rows.size(),
        static_cast<unsigned long long>(count_of(comparison, reports::Speed::same)),
        static_cast<unsigned long long>(count_of(comparison, reports::Speed::faster)),
        static_cast<unsigned long long>(slower), static_cast<unsigned long long>(uncertain),
        100 * comparison.floor);
    if (comparison.rows.empty()) return exit_nothing_tested;
    if (slower != 0) return exit_mismatch;
    const bool is_partial = !first.value().complete || !second.value().complete ||
                            !comparison.only_first.empty() || !comparison.only_second.empty();
    return uncertain != 0 || is_partial ? exit_incomplete : exit_conformant;
}

int report(const std::vector<std::string>& folders) {
    if (folders.size() > 2)
        return fail_with({ErrorKind::bad_input, "report takes one folder, or two benchmarks"});
    if (folders.size() == 2) return compare(folders[0], folders[1]);
    return render(folders.empty() ? "out" : folders.front());
}

}  // namespace

Command report_command() {
    auto folders = std::make_shared<std::vector<std::string>>();
    return {"report",
            "results to HTML, Markdown and JUnit XML; or two benchmarks compared",
            "mxcheck report out\n  mxcheck report before after\n\n"
            "Of two benchmarks: 0 nothing is slower, 1 a row is SLOWER, 4 a row is UNCERTAIN or in "
            "one\nof them alone, or one was interrupted, 77 no row is in both.",
            {{"DIR", "the folder that holds results.jsonl (default out); or two with bench.jsonl",
              folders.get()}},
            [folders] { return report(*folders); }};
}

}  // namespace mx::cli
