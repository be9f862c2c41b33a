// See gemm_setting.hpp.
#include "conformance/identify/gemm_setting.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "conformance/case/gemm_case.hpp"
#include "conformance/case/names.hpp"

namespace mx::identify {
namespace {

std::vector<std::string> factor_types() {
    return {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "bf16", "f16", "f32", "e4m3fnuz", "e5m2fnuz"};
}

std::vector<std::string> scaling_names() {
    std::vector<std::string> names;
    for (const FactorScalingRow& row : factor_scalings) names.push_back(scaling_text(row.scaling));
    return names;
}

// One name for both factors, or one for each.
Expected<std::pair<std::string, std::string>> pair_of(const std::string& option,
                                                      const std::vector<std::string>& names) {
    if (names.empty() || names.size() > 2)
        return bad_input(option + " takes one name for A and B, or two, not " +
                         std::to_string(names.size()));
    return std::pair{names.front(), names.back()};
}

// MX formats say both what the elements are and how they are scaled.
Expected<FactorType> factor_of_format(const std::string& name) {
    const Status known = check_name("format", name, format_names(OperationKind::quantize));
    if (!known) return known.error();
    const auto factor = parse_gemm_factor(name);
    if (!factor || factor->element.exponent_bits == 0)
        return bad_input("--format " + name + ": no machine is known that multiplies it");
    return *factor;
}

Expected<FactorType> factor_of_type(const std::string& name) {
    if (const Status known = check_name("type", name, factor_types()); !known) return known.error();
    return FactorType{*find_element_format(name), FactorScaling::none};
}

Expected<FactorScaling> scaling_named(const std::string& name) {
    if (const Status known = check_name("scaling", name, scaling_names()); !known)
        return known.error();
    return std::ranges::find(factor_scalings, name,
                             [](const FactorScalingRow& row) { return scaling_text(row.scaling); })
        ->scaling;
}

// What the reader makes of one name for both factors, or of one for each.
template <typename Row>
Expected<std::pair<Row, Row>> read_pair(const std::string& option,
                                        const std::vector<std::string>& names,
                                        Expected<Row> (*read)(const std::string&)) {
    const auto pair = pair_of(option, names);
    if (!pair) return pair.error();
    const auto a = read(pair.value().first);
    if (!a) return a.error();
    const auto b = read(pair.value().second);
    if (!b) return b.error();
    return std::pair{a.value(), b.value()};
}

Expected<Accumulation> accumulation_named(const std::string& name) {
    if (name.empty()) return Accumulation::by_default;
    const Status known = check_name("accumulation", name, gemm_accumulation_names());
    if (!known) return known.error();
    return find_named(accumulations, name)->second;
}

Expected<GemmProblem> named_setting(const GemmWords& words) {
    const bool has_formats = !words.formats.empty();
    const auto factors = has_formats ? read_pair("--format", words.formats, factor_of_format)
                                     : read_pair("--types", words.types, factor_of_type);
    if (!factors) return factors.error();
    const auto accumulation = accumulation_named(words.accumulation);
    if (!accumulation) return accumulation.error();
    GemmProblem setting{.a = factors.value().first, .b = factors.value().second};
    setting.accumulation = accumulation.value();
    if (!words.algorithm.empty()) setting.algorithm = words.algorithm;
    if (has_formats || words.scaling.empty()) return setting;
    const auto scaling = read_pair("--scaling", words.scaling, scaling_named);
    if (!scaling) return scaling.error();
    setting.a.scaling = scaling.value().first;
    setting.b.scaling = scaling.value().second;
    return setting;
}

// Nothing was said about scales: FP8 has one for each tensor where the device takes it.
void choose_scaling(const GemmWords& words, const Client& device, GemmProblem& setting) {
    const bool is_said = !words.scaling.empty() || !words.formats.empty();
    if (is_said || setting.a.element.code_bits() != 8 || setting.b.element.code_bits() != 8) return;
    GemmProblem scaled = setting;
    scaled.a.scaling = scaled.b.scaling = FactorScaling::tensor;
    if (takes(device, scaled)) setting = scaled;
}

// Those that a device may take which does not take E4M3 alone.
constexpr std::array<std::string_view, 8> other_factors{
    "mxfp8-e4m3", "mxfp8-e5m2", "mxfp4-e2m1", "nvfp4", "mxfp6-e3m2", "bf16", "f16", "f32"};

void choose_factors(const Client& device, GemmProblem& setting) {
    if (takes(device, setting)) return;
    for (const std::string_view name : other_factors) {
        GemmProblem other = setting;
        other.a = other.b = *parse_gemm_factor(name);
        if (!takes(device, other)) continue;
        setting = other;
        return;
    }
}

}  // namespace

Expected<GemmProblem> setting_of(const GemmWords& words, const Client& device) {
    const bool is_open = words.types.empty() && words.formats.empty();
    GemmWords asked = words;
    if (is_open) asked.types = {"e4m3"};
    auto setting = named_setting(asked);
    if (!setting) return setting;
    choose_scaling(asked, device, setting.value());
    if (is_open && words.scaling.empty()) choose_factors(device, setting.value());
    return setting;
}

Expected<GemmShape> shape_of(const std::string& text) {
    GemmShape shape;
    int end = 0;
    const int read =
        std::sscanf(text.c_str(), "%9ldx%9ldx%9ld%n", &shape.m, &shape.n, &shape.k, &end);
    if (read != 3 || static_cast<std::size_t>(end) != text.size() || shape.m < 1 || shape.n < 1 ||
        shape.k < 1)
        return bad_input("--shape " + text + " is not MxNxK, as 256x256x1024");
    return shape;
}

std::string scaling_text(FactorScaling scaling) {
    return scaling == FactorScaling::none ? "none" : std::string(name_of(scaling));
}

}  // namespace mx::identify
