// mxcheck list: what names there are.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/device_sweeps.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/gemm_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/run/sweep_result.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::cli {
namespace {

struct ListOptions {
    std::string what;
    std::string level = "quick";
    std::string suite = "*";
    bool json = false;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

// One thing with a name: a short text and, for JSON and the longer lists, its fields. What a
// dialect decides stands apart: one vector of many short values.
struct Row {
    std::string name;
    std::string text;
    Fields fields;
    Fields decisions = {};
};

void append(std::string& list, std::string_view name) {
    list += (list.empty() ? "" : ", ") + std::string(name);
}

std::string or_nothing(const std::string& list) {
    return list.empty() ? "nothing" : list;
}

// What --dialect takes; `list dialects` is an older name of the same list.
std::vector<Row> quantizer_rows() {
    std::vector<Row> rows;
    for (const Quantizer& dialect : e8m0_quantizers) {
        Row row{std::string(dialect.name), std::string(dialect.title), {}};
        std::string quantizes, reads, open;
        for (const BlockFormat& format : mx_block_formats)
            if (dialect.quantizes(format)) append(quantizes, format.name);
        for (const std::string_view type : input_types)
            if (dialect.reads(type)) append(reads, type);
        for (const auto& [name, text, decision] : decisions)
            if (dialect.leaves_open(decision)) append(open, name);
        for (const emulate::DialectField& field : emulate::dialect_fields())
            row.decisions.emplace_back(field.name, field.value_of(dialect));
        row.fields = {{"quantizes", quantizes.empty() ? "nothing: a cast to e8m0" : quantizes},
                      {"reads", reads},
                      {"left_open", or_nothing(open)},
                      {"source", std::string(dialect.source)}};
        if (!dialect.is_known()) row.fields.emplace_back("waits_for", dialect.waits);
        rows.push_back(row);
    }
    for (const Quantizer& recipe : real_scale_quantizers)
        rows.push_back(
            {std::string(recipe.name), std::string(recipe.title), emulate::recipe_fields(recipe)});
    return rows;
}

std::vector<Row> format_rows() {
    std::vector<Row> rows;
    for (const BlockFormat& f : block_formats)
        rows.push_back({std::string(f.name),
                        emulate::block_format_text(f),
                        {{"source", std::string(f.source)}}});
    for (const ElementFormat& f : element_formats)
        rows.push_back({std::string(f.name),
                        std::to_string(f.sign_bits) + " sign, " + std::to_string(f.exponent_bits) +
                            " exponent, " + std::to_string(f.mantissa_bits) +
                            " mantissa bits, bias " + std::to_string(f.exponent_bias),
                        {{"source", std::string(f.source)}}});
    return rows;
}

std::string commas(std::string_view words) {
    std::string list;
    for (const char letter : words) list += letter == ' ' ? ", " : std::string(1, letter);
    return list;
}

// What mxcheck gemm --model takes.
std::vector<Row> model_rows() {
    std::vector<Row> rows{{"exact",
                           "all scaled products summed exactly, and the sum rounded once",
                           {{"operands", "every factor that gemm reads"},
                            {"standing", "the standard's sum, with no freedom taken"},
                            {"gelu", gelu_text},
                            {"source", "OCP MX v1.0 sections 6.1 and 6.2"}}}};
    for (const GemmModel& model : gemm_models)
        rows.push_back({std::string(model.name),
                        emulate::gemm_model_text(model),
                        {{"operands", commas(model.operands)},
                         {"standing", std::string(emulate::standing_text(model.standing))},
                         {"source", std::string(model.source)}}});
    return rows;
}

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
    if (options.what == "quantizers" || options.what == "dialects") return quantizer_rows();
    if (options.what == "formats") return format_rows();
    if (options.what == "devices") return device_rows();
    if (options.what == "models") return model_rows();
    if (options.what == "families") return family_rows();
    if (options.what == "suites") return suite_rows();
    if (options.what == "cases") return case_rows(options);
    const Status unknown = check_name(
        "list", options.what,
        {"devices", "quantizers", "dialects", "formats", "models", "suites", "families", "cases"});
    return unknown.error();
}

void print_json(const std::vector<Row>& rows) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
        nlohmann::ordered_json item{{"name", row.name}, {"text", row.text}};
        for (const auto& [key, value] : row.fields) item[key] = value;
        for (const auto& [key, value] : row.decisions) item["decisions"][key] = value;
        list.push_back(item);
    }
    std::printf("%s\n", list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
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
        print_json(rows.value());
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
            "devices, quantizers, formats, models, suites, families or cases",
            "mxcheck list quantizers --json",
            {{"WHAT", "devices, quantizers, formats, models, suites, families or cases", &o->what,
              true},
             {"--level", "for cases: the level", &o->level},
             {"--suite", "for cases: only suites of this name", &o->suite},
             {"--json", "as JSON", &o->json}},
            [o] { return list(*o); },
            false};
}

}  // namespace mx::cli
