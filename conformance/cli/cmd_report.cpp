// mxcheck report: render a results file with what was measured beside it, or compare two folders.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/report_files.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/session/results_folder.hpp"
#include "reference/base/files.hpp"
#include "reports/model/difference.hpp"
#include "reports/model/summary.hpp"
#include "reports/model/throughput.hpp"
#include "reports/render/html.hpp"
#include "reports/render/wall_page.hpp"

namespace mx::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
    std::vector<std::string> folders, with;
    std::string baseline, html, wall;
};

bool holds(const std::string& folder, const char* name) {
    std::error_code ignored;
    return fs::exists(fs::path(folder) / name, ignored);
}

Expected<std::vector<std::string>> write_page(const reports::Material& material,
                                              const std::string& path) {
    const std::string page = reports::render_html(material);
    const Status written = write_atomically(path, {std::as_bytes(std::span(page))});
    if (!written) return written.error();
    return std::vector{path};
}

int render(const std::string& folder, const ReportArguments& arguments) {
    const auto run = results::read_results(session::results_path(folder));
    if (!run) return fail_with(run.error());
    if (holds(folder, "results.new.jsonl"))
        complain("warning: a later run into " + folder +
                 " was ended before its first case; this is the one before it");
    const auto attached = attachments_of(folder, arguments.with);
    if (!attached) return fail_with(attached.error());
    reports::Material material(run.value());
    material.attached = &attached.value();
    Expected<results::Run> baseline = results::Run{};
    if (!arguments.baseline.empty()) {
        baseline = results::read_results(session::results_path(arguments.baseline));
        if (!baseline) return fail_with(baseline.error());
        material.baseline = &baseline.value();
    }
    const auto files = arguments.html.empty() ? write_report_files(material, folder)
                                              : write_page(material, arguments.html);
    if (!files) return fail_with(files.error());
    for (const std::string& file : files.value()) std::printf("wrote %s\n", file.c_str());
    const reports::Summary summary = reports::summarize(run.value());
    if (!summary.cause.empty()) std::printf("cause: %s\n", summary.cause.c_str());
    std::printf("%s\n", summary.headline.c_str());
    return run.value().complete ? exit_conformant : exit_incomplete;
}

Expected<results::Bench> bench_of(const std::string& folder) {
    return results::read_bench((fs::path(folder) / "bench.jsonl").string());
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
int compare_benches(const std::string& before, const std::string& after) {
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

void print(const reports::Difference& difference) {
    constexpr std::size_t printed_max = 40;
    for (const std::string& line : difference.headers) std::printf("differs: %s\n", line.c_str());
    const auto verdict_of = [](const results::CaseResult* result) {
        return result == nullptr ? "-" : std::string(results::name_of(result->verdict));
    };
    for (std::size_t i = 0; i < std::min(difference.cases.size(), printed_max); ++i) {
        const reports::ChangedCase& each = difference.cases[i];
        const results::CaseResult& known = each.after != nullptr ? *each.after : *each.before;
        std::printf("%-8s %s to %s: %s\n", std::string(reports::name_of(each.change)).c_str(),
                    verdict_of(each.before).c_str(), verdict_of(each.after).c_str(),
                    known.case_text.c_str());
    }
    if (difference.cases.size() > printed_max)
        std::printf("and %zu more\n", difference.cases.size() - printed_max);
    std::printf("%llu cases the same", static_cast<unsigned long long>(difference.same));
    for (const reports::Change change : reports::changes)
        std::printf(", %llu %s", static_cast<unsigned long long>(difference.of(change)),
                    std::string(reports::name_of(change)).c_str());
    std::printf("\n");
}

// 1 when a case is worse; 4 when none is but some are in one run alone, or one run stopped early.
int compare_results(const std::string& before, const std::string& after) {
    const auto first = results::read_results(session::results_path(before));
    if (!first) return fail_with(first.error());
    const auto second = results::read_results(session::results_path(after));
    if (!second) return fail_with(second.error());
    const reports::Difference difference = reports::difference_of(first.value(), second.value());
    print(difference);
    if (difference.same + difference.cases.size() == 0) return exit_nothing_tested;
    if (difference.of(reports::Change::worse) != 0) return exit_mismatch;
    const bool is_partial = !first.value().complete || !second.value().complete ||
                            difference.of(reports::Change::added) != 0 ||
                            difference.of(reports::Change::removed) != 0;
    return is_partial ? exit_incomplete : exit_conformant;
}

int compare(const std::string& before, const std::string& after) {
    const bool has_runs = holds(before, "results.jsonl") && holds(after, "results.jsonl");
    const bool has_benches = holds(before, "bench.jsonl") && holds(after, "bench.jsonl");
    const bool is_alone = holds(before, "results.jsonl") != holds(after, "results.jsonl");
    if (is_alone && !has_benches)
        return fail_with({ErrorKind::bad_input,
                          (holds(before, "results.jsonl") ? after : before) +
                              " holds no results.jsonl, the other folder does: there is nothing "
                              "to compare"});
    if (!has_runs) return compare_benches(before, after);
    const int runs = compare_results(before, after);
    const int benches = has_benches ? compare_benches(before, after) : runs;
    for (const int worst : {exit_usage, exit_mismatch, exit_incomplete, exit_conformant})
        if (runs == worst || benches == worst) return worst;
    return exit_nothing_tested;
}

Expected<reports::Wall> read_wall(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder / "records", failed))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    if (failed)
        return Error{ErrorKind::bad_input,
                     (folder / "records").string() + " cannot be read: " + failed.message()};
    reports::Wall wall;
    for (const fs::path& file : files) {
        const auto text = text_of_file(file.string());
        if (!text) return text.error();
        auto record = results::parse_wall_record(text.value(), file.string());
        if (!record) return record.error();
        wall.records.push_back(std::move(record.value()));
    }
    std::ranges::sort(wall.records, {}, [](const results::WallRecord& record) {
        return std::pair(record.library, record.peer);
    });
    const std::string name = (folder / "findings.json").string();
    const auto text = text_of_file(name);
    if (!text) return text.error();
    auto findings = results::parse_findings(text.value(), name);
    if (!findings) return findings.error();
    wall.findings = std::move(findings.value());
    return wall;
}

int render_wall(const fs::path& folder) {
    const auto wall = read_wall(folder);
    if (!wall) return fail_with(wall.error());
    const std::pair<const char*, std::string> pages[] = {
        {"README.md", reports::render_wall_markdown(wall.value())},
        {"findings.md", reports::render_findings_markdown(wall.value())},
        {"wall.html", reports::render_wall_html(wall.value())}};
    for (const auto& [name, page] : pages) {
        const std::string path = (folder / name).string();
        if (const Status written = write_atomically(path, {std::as_bytes(std::span(page))});
            !written)
            return fail_with(written.error());
        std::printf("wrote %s\n", path.c_str());
    }
    std::printf("%s\n", reports::sentence_of(wall.value()).c_str());
    return exit_conformant;
}

int report(const ReportArguments& arguments) {
    if (!arguments.wall.empty()) return render_wall(arguments.wall);
    const std::vector<std::string>& folders = arguments.folders;
    if (folders.size() > 2)
        return fail_with({ErrorKind::bad_input, "report takes one folder, or two to compare"});
    const bool is_page =
        !arguments.with.empty() || !arguments.baseline.empty() || !arguments.html.empty();
    if (folders.size() == 2 && is_page)
        return fail_with({ErrorKind::bad_input,
                          "--with, --baseline and --html belong to a page of one folder; two "
                          "folders are compared on the console"});
    if (folders.size() == 2) return compare(folders[0], folders[1]);
    return render(folders.empty() ? "out" : folders.front(), arguments);
}

}  // namespace

Command report_command() {
    auto o = std::make_shared<ReportArguments>();
    return {"report",
            "results to HTML, Markdown and JUnit XML; or two folders compared",
            "mxcheck report out\n  mxcheck report out --baseline last-week --html page.html\n"
            "  mxcheck report before after\n\n"
            "Into the page of a folder goes what other commands left beside its results.jsonl:\n"
            "bench.jsonl, accuracy.json, gemm_accuracy.json, training.json, kill_table.json.\n"
            "Of one folder: 0, whatever the verdict in it, or 4 where the run was interrupted.\n"
            "Of two folders: 0 nothing is slower or worse, 1 a row is SLOWER or a case is worse "
            "(one that is\nnot supported any more is), 4 a row is UNCERTAIN, something is in one "
            "of them alone or was\ninterrupted, 77 nothing is in both.",
            {{"DIR", "the folder that holds results.jsonl (default out); or two to compare",
              &o->folders},
             {"--with", "more files of bench, accuracy, train and selftest for the page", &o->with},
             {"--baseline", "folder of an older run: the page says what changed", &o->baseline},
             {"--html", "write the page alone, to this file", &o->html},
             {"--wall", "a folder of records of peers: write its pages", &o->wall}},
            [o] { return report(*o); },
            false};
}

}  // namespace mx::cli
