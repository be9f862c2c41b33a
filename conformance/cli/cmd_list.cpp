// mxcheck list: what names there are.
#include <cstdio>
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/emulate/listing.hpp"
#include "conformance/run/sweep_result.hpp"

namespace mx::cli {
namespace {

struct ListOptions {
    std::string what;
    std::string level = "quick";
    std::string suite = "*";
    bool json = false;
};

using emulate::Fields;
using Row = emulate::Listed;

std::vector<Row> device_rows() {
    std::vector<Row> rows;
    const DeviceRegistry devices = built_in_devices();
    for (const DeviceSource& device : devices.list())
        rows.push_back({device.name, device.description, {}});
    rows.push_back({"PATH.so", "any library that exports mx_device_get_api", {}});
    return rows;
}

std::vector<Row> family_rows() {
    std::vector<Row> rows;
    for (const Family& family : families())
        rows.push_back({std::string(family.name),
                        std::string(family.description),
                        {{"operations", std::string(family.operations)}}});
    for (const GemmFamily& family : gemm_data_families())
        rows.push_back(
            {std::string(family.name), std::string(family.description), {{"operations", "gemm"}}});
    return rows;
}

// Not cases, but part of a run all the same: whole domains and GEMMs that a GPU is asked.
Row sweep_row() {
    Row row{std::string(sweep_suite), "", {}};
    for (const OptionalDevice& device : optional_devices)
        for (const std::string_view level : levels) {
            const std::size_t count =
                device_sweeps({.device = device.name}, std::string(level)).size();
            if (count == 0) continue;
            const std::string name = std::string(device.name) + " " + std::string(level);
            row.fields.emplace_back(name, std::to_string(count));
            row.text += (row.text.empty() ? "" : ", ") + name + " " + std::to_string(count);
        }
    row.text = row.text.empty() ? "none: this build has no CUDA" : row.text + " sweeps on a GPU";
    return row;
}

std::vector<Row> suite_rows() {
    std::vector<Row> rows;
    for (const Suite& suite : built_in_suites()) {
        Row row{suite.name, "", {}};
        Sources sources;
        for (const std::string_view level : levels) {
            const auto cases = plan_cases({suite}, {std::string(level), "*", {}, 0}, sources);
            const std::string count = cases ? std::to_string(cases.value().size()) : "unknown";
            row.fields.emplace_back(level, count);
            row.text += (row.text.empty() ? "" : ", ") + std::string(level) + " " + count;
        }
        row.text += " cases";
        rows.push_back(row);
    }
    rows.push_back(sweep_row());
    return rows;
}

Expected<std::vector<Row>> case_rows(const ListOptions& options) {
    Sources sources;
    const auto cases =
        plan_cases(built_in_suites(), {options.level, options.suite, {}, 0}, sources);
    if (!cases) return cases.error();
    std::vector<Row> rows;
    for (const PlannedCase& planned : cases.value())
        rows.push_back({planned.suite, print(planned.c), {}});
    return rows;
}

Expected<std::vector<Row>> rows_of(const ListOptions& options) {
    if (options.what == "quantizers" || options.what == "dialects")
        return emulate::listed_quantizers();
    if (options.what == "formats") return emulate::listed_formats();
    if (options.what == "devices") return device_rows();
    if (options.what == "models") return emulate::listed_models();
    if (options.what == "layouts") return emulate::listed_layouts();
    if (options.what == "families") return family_rows();
    if (options.what == "suites") return suite_rows();
    if (options.what == "cases") return case_rows(options);
    const Status unknown = check_name("list", options.what,
                                      {"devices", "quantizers", "dialects", "formats", "models",
                                       "layouts", "suites", "families", "cases"});
    return unknown.error();
}

constexpr const char* field_line = "%16s   %-18s %s\n";

// name=value, as many on a line as fit.
void print_decisions(const Fields& decisions) {
    constexpr std::size_t width = 100;
    std::string line;
    const char* title = "decisions";
    const auto flush = [&] {
        if (!line.empty()) std::printf(field_line, "", title, line.c_str());
        line.clear();
        title = "";
    };
    for (const auto& [name, value] : decisions) {
        const std::string word = name + "=" + value;
        if (line.size() + 1 + word.size() > width) flush();
        line += (line.empty() ? "" : " ") + word;
    }
    flush();
}

int list(const ListOptions& options) {
    const auto rows = rows_of(options);
    if (!rows) {
        complain(rows.error().message);
        return exit_usage;
    }
    if (options.json) {
        std::printf("%s\n", emulate::json_of(rows.value()).c_str());
        return exit_conformant;
    }
    for (const Row& row : rows.value()) {
        std::printf("%-16s %s\n", row.name.c_str(), row.text.c_str());
        if (options.what == "suites") continue;
        for (const auto& [key, value] : row.fields)
            std::printf(field_line, "", key.c_str(), value.c_str());
        if (!row.decisions.empty()) print_decisions(row.decisions);
    }
    return exit_conformant;
}

}  // namespace

Command list_command() {
    auto o = std::make_shared<ListOptions>();
    return {"list",
            "devices, quantizers, formats, models, layouts, suites, families or cases",
            "mxcheck list quantizers --json",
            {{"WHAT", "devices, quantizers, formats, models, layouts, suites, families or cases",
              &o->what, true},
             {"--level", "for cases: the level", &o->level},
             {"--suite", "for cases: only suites of this name", &o->suite},
             {"--json", "as JSON", &o->json}},
            [o] { return list(*o); },
            false};
}

}  // namespace mx::cli
