// See names.hpp.
#include "conformance/case/names.hpp"

#include <algorithm>

#include "reference/base/text.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/cast_formats.hpp"

namespace mx {

Status check_name(std::string_view kind, std::string_view name,
                  const std::vector<std::string>& known) {
    count_lookup();
    if (std::find(known.begin(), known.end(), name) != known.end()) return success();
    std::string message = "unknown " + std::string(kind) + " '" + std::string(name) + "'";
    const std::string nearest = nearest_name(name, known);
    if (!nearest.empty()) return bad_input(message + "; did you mean '" + nearest + "'?");
    message += "; known are:";
    for (const std::string& candidate : known) message += " " + candidate;
    return bad_input(message);
}

std::vector<std::string> operation_names() {
    return names_of(operations());
}
std::vector<std::string> axis_names() {
    return first_of(block_axes);
}
std::vector<std::string> block_names() {
    return {"16", "32", "64"};
}
std::vector<std::string> all_block_names() {
    return {"16", "32", "64", "128"};
}
std::vector<std::string> block_format_names() {
    return names_of(block_formats);
}
std::vector<std::string> quantizer_names() {
    return names_of(quantizers);
}
std::vector<std::string> quantizer_names(const BlockFormat& format) {
    std::vector<std::string> names;
    for (const Quantizer& row : quantizers)
        if (row.quantizes(format)) names.emplace_back(row.name);
    return names;
}
std::string usual_quantizer(const BlockFormat& format) {
    for (const Quantizer& row : quantizers) {
        const bool asks_for_more = row.element_rounding == Rounding::stochastic ||
                                   row.tensor_scale == TensorScale::history;
        if (row.is_known() && row.quantizes(format) && row.reads(formats::f32.name) &&
            !asks_for_more)
            return std::string(row.name);
    }
    return "";
}
std::vector<std::string> layout_names() {
    return first_of(row_layouts);
}
std::vector<std::string> scales_names() {
    return first_of(scale_storages);
}
std::vector<std::string> packing_names() {
    return names_of(packings);
}
std::vector<std::string> dialect_names() {
    return names_of(e8m0_quantizers);
}
std::vector<std::string> converter_names() {
    std::vector<std::string> names = dialect_names();
    for (const Quantizer& row : conversions) names.emplace_back(row.name);
    return names;
}
std::vector<std::string> type_names() {
    return {input_types.begin(), input_types.end()};
}
std::vector<std::string> rounding_names() {
    std::vector<std::string> names = first_of(roundings);
    // Without its bits it is no mode: the forms say how many there are, and where.
    std::erase(names, "stochastic");
    for (const StochasticForm& form : stochastic_forms) names.emplace_back(form.name);
    return names;
}
std::vector<std::string> subnormal_names() {
    return first_of(subnormal_rules);
}
std::vector<std::string> overflow_names() {
    return first_of(overflows);
}

std::vector<std::string> format_names(OperationKind operation) {
    if (operation != OperationKind::convert) return names_of(mx_block_formats);
    std::vector<std::string> names;
    for (const BlockFormat& format : mx_block_formats) names.emplace_back(format.element().name);
    for (const BlockFormat& format : cast_formats) names.emplace_back(format.name);
    names.emplace_back(formats::e8m0.name);
    return names;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*') {
        for (std::size_t skip = 0; skip <= text.size(); ++skip)
            if (matches_glob(pattern.substr(1), text.substr(skip))) return true;
        return false;
    }
    if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
    return matches_glob(pattern.substr(1), text.substr(1));
}

}  // namespace mx
