// See identify_gemm_text.hpp.
#include "conformance/cli/identify_gemm_text.hpp"

#include <cstdio>

#include "conformance/identify/gemm_setting.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {

using identify::GemmFinding;
using identify::GemmMisses;
using Json = nlohmann::ordered_json;

std::string setting_text(const GemmProblem& setting) {
    std::string text = std::string(setting.a.element.name) + " x " +
                       std::string(setting.b.element.name) + ", scales " +
                       identify::scaling_text(setting.a.scaling) + " x " +
                       identify::scaling_text(setting.b.scaling);
    if (setting.accumulation == Accumulation::fast) text += ", accumulation fast";
    if (setting.names_algorithm()) text += ", algorithm " + setting.algorithm;
    return text;
}

void print_field_line(const std::string& name, const std::string& text) {
    std::printf("  %-20s %s\n", name.c_str(), text.c_str());
}

void print_gemm_findings(const std::vector<GemmFinding>& findings) {
    for (const GemmFinding& finding : findings) {
        const std::string values = identify::values_text(finding.values);
        print_field_line(finding.field, finding.values.size() == 1
                                            ? values
                                            : "undetermined: " + values + "; no probe parts them");
        if (!finding.witness.empty()) print_field_line("", "  " + finding.witness);
    }
}

std::string misses_text(const GemmMisses& misses) {
    return grouped(misses.count) + " of " + grouped(misses.of);
}

void print_unexplained(const std::string& what, const GemmMisses& misses) {
    if (misses.count == 0) return;
    std::printf("unexplained: %s %s\n  %s\n", misses_text(misses).c_str(), what.c_str(),
                misses.witness.c_str());
}

Json findings_json(const std::vector<GemmFinding>& findings) {
    Json list = Json::array();
    for (const GemmFinding& finding : findings)
        list.push_back(
            {{"field", finding.field}, {"values", finding.values}, {"witness", finding.witness}});
    return list;
}

Json misses_json(const GemmMisses& misses) {
    return {{"unexplained", misses.count}, {"of", misses.of}, {"witness", misses.witness}};
}

Json setting_json(const GemmProblem& setting) {
    const bool is_fast = setting.accumulation == Accumulation::fast;
    return {{"a", setting.a.element.name},
            {"b", setting.b.element.name},
            {"scaling_a", name_of(setting.a.scaling)},
            {"scaling_b", name_of(setting.b.scaling)},
            {"accumulation", is_fast ? "fast" : ""},
            {"algorithm", setting.names_algorithm() ? setting.algorithm : ""}};
}

}  // namespace mx::cli
