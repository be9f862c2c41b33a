// See suite.hpp.
#include "conformance/data/suite.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "conformance/case/fields.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/names.hpp"
#include "conformance/data/bits_source.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "reference/spec/cast_formats.hpp"

namespace mx {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

std::vector<std::string> gemm_names(const std::string& key) {
    if (key == "a" || key == "b") return gemm_factor_names();
    if (key == "output") return gemm_output_names();
    if (key == "dialect") return gemm_dialect_names();
    if (key == "epilogue") return gemm_epilogue_names();
    if (key == "accumulation") return gemm_accumulation_names();
    if (key == "model") return gemm_model_names();
    if (key == "data") return names_of(gemm_data_families());
    return {};
}

// What a "*" stands for. The formats are those of OCP MX: the others have suites of their own,
// whose lines name them.
std::vector<std::string> all_names(const std::string& key, const std::string& operation) {
    if (operation == "gemm") return gemm_names(key);
    const bool has_blocks = operation == "quantize" || operation == "dequantize";
    if (key == "dialect" && has_blocks) return quantizer_names();
    if (key == "format") {
        auto formats =
            format_names(operation == "convert" ? OperationKind::convert : OperationKind::quantize);
        for (const BlockFormat& format : cast_formats) std::erase(formats, format.name);
        return formats;
    }
    if (key == "dialect") return operation == "convert" ? converter_names() : dialect_names();
    if (key == "input" || key == "output") return type_names();
    if (key == "axis") return {"row", "col", "tile", "both"};
    if (key == "block") return block_names();
    if (key == "layout") return layout_names();
    if (key == "scales") return scales_names();
    if (key == "packing") return packing_names();
    if (key == "rounding") return rounding_names();
    if (key == "overflow") return overflow_names();
    if (key == "subnormals") return subnormal_names();
    return {};
}

// "3", "0:10:5" -> 0, 5.
Expected<std::vector<std::string>> index_values(const std::string& text) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.size() == 1) return std::vector<std::string>{text};
    if (parts.size() != 3) return bad_input("index '" + text + "' is not NUMBER or FIRST:END:STEP");
    std::uint64_t numbers[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const auto number = parse_number("index", parts[i]);
        if (!number) return number.error();
        numbers[i] = number.value();
    }
    const auto [first, end, step] = numbers;
    if (step == 0 || first >= end || (end - first - 1) / step >= 1'000'000)
        return bad_input("index '" + text + "' makes no or too many cases");
    std::vector<std::string> values;
    for (std::uint64_t i = 0; i <= (end - first - 1) / step; ++i)
        values.push_back(std::to_string(first + i * step));
    return values;
}

Expected<std::vector<std::string>> values_of(const SuiteLine& line, const std::string& key,
                                             const std::string& value) {
    if (key == "index") return index_values(value);
    if (value == "*") return all_names(key, line.operation);
    // Names of algorithms have commas in them.
    if (key == "algorithm") return std::vector<std::string>{value};
    if (value.starts_with(bits_prefix)) return std::vector<std::string>{value};
    return split(value, ',');
}

// The natural shape: every block of the family once, as a tensor of rows (or columns) of blocks, or
// a column of tiles; for axis both tiles of k blocks each.
Status set_automatic_shape(Case& c, Sources& sources) {
    const auto source = sources.open(c);
    if (!source) return source.error();
    const std::uint64_t size = source.value()->size();
    if (c.axis == BlockAxis::tensor)
        return bad_input("the shape of a tensor that is one block cannot be auto");
    if (size == 0)
        return bad_input("data family '" + c.data + "' never ends: its shape cannot be auto");
    c.rows = static_cast<std::int64_t>(size);
    c.columns = c.block;
    if (c.axis == BlockAxis::col) std::swap(c.rows, c.columns);
    if (c.axis == BlockAxis::tile) c.rows *= c.block;
    if (c.axis == BlockAxis::both) c.rows = (c.rows + c.block - 1) / c.block * c.block;
    return success();
}

// Every combination of the line's values, as case texts.
Expected<std::vector<std::string>> case_texts(const SuiteLine& line) {
    std::vector<std::string> texts{line.operation};
    for (const auto& [key, value] : line.fields) {
        const auto values = values_of(line, key, value);
        if (!values) return values.error();
        if (values.value().empty()) return bad_input(print_field(key, value) + " makes no case");
        std::vector<std::string> longer;
        for (const std::string& text : texts)
            for (const std::string& one : values.value())
                longer.push_back(text + " " + print_field(key, one));
        texts = std::move(longer);
    }
    return texts;
}

bool has_wildcard(const SuiteLine& line) {
    return std::any_of(line.fields.begin(), line.fields.end(),
                       [](const auto& field) { return field.second == "*"; });
}

// Gathers cases, each but once: lines may overlap.
class Plan {
public:
    Plan(const PlanRequest& request, Sources& sources) : request_(request), sources_(sources) {}

    Status add(const Suite& suite, const SuiteLine& line) {
        const auto texts = case_texts(line);
        if (!texts) return texts.error();
        Status unfit = success();
        bool any = false;
        for (const std::string& text : texts.value()) {
            auto c = read(text);
            if (!c) return c.error();
            if (const Status fits = check_combination(c.value()); !fits) {
                // A "*" stands for the names that go together with the rest of the line.
                if (!has_wildcard(line)) return fits;
                unfit = fits;
                continue;
            }
            any = true;
            if (!is_wanted(c.value())) continue;
            if (text.find("shape=auto") != std::string::npos)
                if (const Status shaped = set_automatic_shape(c.value(), sources_); !shaped)
                    return shaped;
            if (known_.insert(print(c.value())).second) cases_.push_back({suite.name, c.value()});
        }
        return any ? success() : unfit;
    }

    // The suite's lines of the levels that are wanted.
    template <typename IsWanted>
    Status add_lines(const Suite& suite, const IsWanted& is_wanted_level) {
        std::size_t number = 0;
        for (const std::string& text : split(suite.text, '\n')) {
            ++number;
            if (text.empty() || text.front() == '#') continue;
            const auto line = parse_suite_line(text);
            Status status = line ? success() : Status(line.error());
            if (line && is_wanted_level(line.value().level)) status = add(suite, line.value());
            if (!status)
                return bad_input(suite.name + ".suite:" + std::to_string(number) + ": " +
                                 status.error().message);
        }
        return success();
    }

    std::size_t size() const { return cases_.size(); }
    std::vector<PlannedCase> take() { return std::move(cases_); }

private:
    Expected<Case> read(std::string text) const {
        const std::size_t automatic = text.find("shape=auto");
        if (automatic != std::string::npos) text.replace(automatic, 10, "shape=0x0");
        auto c = read_case(text);
        if (c && text.find(" seed=") == std::string::npos) c.value().seed = request_.seed;
        return c;
    }
    bool is_wanted(const Case& c) const {
        const auto& dialects = request_.dialects;
        return dialects.empty() ||
               std::find(dialects.begin(), dialects.end(), dialect_name(c)) != dialects.end();
    }

    const PlanRequest& request_;
    Sources& sources_;
    std::set<std::string> known_;
    std::vector<PlannedCase> cases_;
};

std::size_t level_rank(std::string_view level) {
    return static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level) -
                                    levels.begin());
}

}  // namespace

bool level_holds(std::string_view asked, std::string_view held) {
    if (asked == large_level || held == large_level) return asked == held;
    return level_rank(held) <= level_rank(asked);
}

Expected<SuiteLine> parse_suite_line(const std::string& text) {
    SuiteLine line;
    const std::size_t blank = text.find(' ');
    line.level = text.substr(0, blank);
    if (level_rank(line.level) == levels.size() || blank == std::string::npos)
        return bad_input("a suite line starts with a level and an operation: " + text);
    const auto words = split_words(text.substr(blank + 1));
    if (!words) return words.error();
    line.operation = words.value().head;
    for (const KeyValue& field : words.value().fields)
        line.fields.emplace_back(field.key, field.value);
    return line;
}

std::string print(const SuiteLine& line) {
    std::string text = line.level + " " + line.operation;
    for (const auto& [key, value] : line.fields) text += " " + print_field(key, value);
    return text;
}

Expected<std::array<std::size_t, levels.size()>> count_cases(const Suite& suite) {
    std::array<std::size_t, levels.size()> counts{};
    Sources sources;
    const PlanRequest request;
    Plan below(request, sources), large(request, sources);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        Plan& plan = levels[i] == large_level ? large : below;
        const auto is_of_level = [i](const std::string& level) { return level == levels[i]; };
        if (const Status added = plan.add_lines(suite, is_of_level); !added) return added.error();
        counts[i] = plan.size();
    }
    return counts;
}

Status check_request(const std::vector<Suite>& suites, const PlanRequest& request) {
    const Status known = check_name("level", request.level, {levels.begin(), levels.end()});
    if (!known) return known;
    const auto is_asked = [&](const Suite& suite) {
        return matches_glob(request.suite_glob, suite.name);
    };
    if (std::ranges::any_of(suites, is_asked)) return success();
    std::vector<std::string> names;
    for (const Suite& suite : suites) names.push_back(suite.name);
    const Status unknown = check_name("suite", request.suite_glob, names);
    return unknown ? bad_input("no suite matches '" + request.suite_glob + "'") : unknown;
}

Expected<std::vector<PlannedCase>> plan_cases(const std::vector<Suite>& suites,
                                              const PlanRequest& request, Sources& sources) {
    if (const Status known = check_request(suites, request); !known) return known.error();
    Plan plan(request, sources);
    for (const Suite& suite : suites) {
        if (!matches_glob(request.suite_glob, suite.name)) continue;
        const Status added = plan.add_lines(suite, [&request](const std::string& level) {
            return level_holds(request.level, level);
        });
        if (!added) return added.error();
    }
    return plan.take();
}

}  // namespace mx
