// mxcheck list: what names there are.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "conformance/case/gemm_row.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/columns.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/emulate/listing.hpp"
#include "conformance/run/sweep_result.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/missing_models.hpp"

namespace mx::cli {
namespace {

struct ListOptions {
    std::string what;
    std::string level = "quick";
    std::string suite = "*";
    std::string machine;
    std::string model_file;
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
        const auto counts = count_cases(suite);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const std::string count = counts ? std::to_string(counts.value()[i]) : "unknown";
            row.fields.emplace_back(levels[i], count);
            row.text += (i == 0 ? "" : ", ") + std::string(levels[i]) + " " + count;
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

using Rows = Expected<std::vector<Row>>;

// The row of a file of the user's, as those of the table are printed.
Rows row_of_file(const std::string& path) {
    const auto own = read_model_file(path);
    if (!own) return own.error();
    Row row = emulate::listed_model(own.value()->row, "your own, of " + path);
    std::erase_if(row.fields, [](const auto& field) { return field.second.empty(); });
    return std::vector{row};
}

void add_words(std::string_view list, std::set<std::string>& all) {
    std::istringstream words{std::string(list)};
    for (std::string word; words >> word;) all.insert(word);
}

// Those of one machine, as its users call it; "B200" is b200. Of one that has none, what is
// missing.
Rows model_rows(const ListOptions& options) {
    if (!options.model_file.empty()) return row_of_file(options.model_file);
    std::vector<Row> all = emulate::listed_models();
    if (options.machine.empty()) return all;
    std::string wanted = options.machine;
    std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return std::tolower(c); });
    std::set<std::string> machines;
    std::vector<Row> rows;
    for (const GemmModel& model : gemm_models) {
        add_words(model.machines, machines);
        if (!lists(model.machines, wanted)) continue;
        const auto row = std::ranges::find(all, std::string(model.name), &Row::name);
        rows.push_back(*row);
    }
    for (const MissingModel& one : missing_models) add_words(one.machines, machines);
    if (const MissingModel* none = find_missing_model(wanted); none != nullptr)
        rows.push_back({wanted, "no model", {{"missing", std::string(none->missing)}}});
    const Status known = check_name("machine", wanted, {machines.begin(), machines.end()});
    if (!known) return known.error();
    return rows;
}

struct List {
    std::string_view name;
    std::string_view text;
    Rows (*rows)(const ListOptions& options);
    // Where the rows take long to make and their number does not.
    std::size_t (*count)() = nullptr;
};

const List lists[] = {
    {"devices", "what --device takes", [](const ListOptions&) -> Rows { return device_rows(); }},
    {"quantizers", "what --dialect takes: every way to quantize, with its decisions",
     [](const ListOptions&) -> Rows { return emulate::listed_quantizers(); }},
    {"dialects", "the same list",
     [](const ListOptions&) -> Rows { return emulate::listed_quantizers(); }},
    {"formats", "what --format takes, and the elements and scales of those blocks",
     [](const ListOptions&) -> Rows { return emulate::listed_formats(); }},
    {"models", "what gemm --model takes: how tensor cores sum", model_rows},
    {"roundings", "what rounding= of a case line takes, and who rounds so",
     [](const ListOptions&) -> Rows { return emulate::listed_roundings(); }},
    {"layouts", "how element codes and scales lie in memory",
     [](const ListOptions&) -> Rows { return emulate::listed_layouts(); }},
    {"suites", "what --suite takes, and how many cases each level has",
     [](const ListOptions&) -> Rows { return suite_rows(); },
     [] { return built_in_suites().size() + 1; }},
    {"families", "what data= of a case line takes",
     [](const ListOptions&) -> Rows { return family_rows(); }},
    {"cases", "the case lines of a level, here of quick", case_rows},
};

std::vector<std::string> list_names() {
    std::vector<std::string> names;
    for (const List& list : lists) names.emplace_back(list.name);
    return names;
}

// "devices, quantizers, ... or cases".
std::string list_names_text() {
    std::string text;
    for (const List& list : lists)
        text += (text.empty()                   ? ""
                 : &list == std::end(lists) - 1 ? " or "
                                                : ", ") +
                std::string(list.name);
    return text;
}

// What can be listed.
Rows overview(const ListOptions& options) {
    std::vector<Row> rows;
    for (const List& list : lists) {
        std::size_t count = 0;
        if (list.count != nullptr) {
            count = list.count();
        } else {
            const Rows listed = list.rows(options);
            if (!listed) return listed.error();
            count = listed.value().size();
        }
        rows.push_back(
            {std::string(list.name), std::string(list.text), {{"entries", std::to_string(count)}}});
    }
    return rows;
}

Rows rows_of(const ListOptions& options) {
    if (!options.machine.empty() && options.what != "models")
        return bad_input("--machine is for models: mxcheck list models --machine " +
                         options.machine);
    if (!options.model_file.empty() && options.what != "models")
        return bad_input("--model-file is for models: mxcheck list models --model-file " +
                         options.model_file);
    if (!options.model_file.empty() && !options.machine.empty())
        return bad_input("--model-file is one row, and --machine names many; give one of them");
    if (options.what.empty()) return overview(options);
    for (const List& list : lists)
        if (list.name == options.what) return list.rows(options);
    return check_name("list", options.what, list_names()).error();
}

// name=value, between blanks.
std::string decisions_text(const Fields& decisions) {
    std::string text;
    for (const auto& [name, value] : decisions)
        text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

void print_overview(const std::vector<Row>& rows) {
    for (const Row& row : rows)
        std::printf("%-10s %6s  %s\n", row.name.c_str(), row.fields.front().second.c_str(),
                    row.text.c_str());
}

// The name and the text, then the fields below.
void print_row(const Row& row, bool has_fields, std::size_t width) {
    constexpr std::size_t text_column = 17, field_column = 21;
    std::fputs(beside(row.name, text_column, row.text, width).c_str(), stdout);
    if (!has_fields) return;
    Fields fields = row.fields;
    if (!row.decisions.empty()) fields.emplace_back("decisions", decisions_text(row.decisions));
    for (const auto& [key, value] : fields)
        std::fputs(beside("  " + key, field_column, value, width).c_str(), stdout);
}

int list(const ListOptions& options) {
    const Rows rows = rows_of(options);
    if (!rows) {
        complain(rows.error().message);
        return exit_usage;
    }
    if (options.json) {
        std::printf("%s\n", emulate::json_of(rows.value()).c_str());
        return exit_conformant;
    }
    if (options.what.empty()) {
        print_overview(rows.value());
    } else if (options.what == "cases") {  // lines to copy: none is broken
        for (const Row& row : rows.value())
            std::printf("%-16s %s\n", row.name.c_str(), row.text.c_str());
    } else {
        const std::size_t width = output_width();
        for (const Row& row : rows.value()) print_row(row, options.what != "suites", width);
    }
    return exit_conformant;
}

}  // namespace

Command list_command() {
    auto o = std::make_shared<ListOptions>();
    return {"list",
            list_names_text(),
            "mxcheck list quantizers --json",
            {{"WHAT", list_names_text() + "; an overview of them if not given", &o->what},
             {"--level", "for cases: the level", &o->level},
             {"--suite", "for cases: only suites of this name", &o->suite},
             {"--machine", "for models: only those of this machine, such as b200 or sm_90",
              &o->machine},
             {"--model-file", "for models: the row of this file instead", &o->model_file},
             {"--json", "as JSON", &o->json}},
            [o] { return list(*o); },
            false};
}

}  // namespace mx::cli
