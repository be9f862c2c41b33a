// See case_words.hpp, and case_of in case.hpp.
#include "conformance/case/case_words.hpp"

#include <algorithm>

namespace mx {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// convert names an element format, or e8m0; all others a block format.
void take_format(WordReader& reader, const std::string& name, Case& c) {
    if (c.operation != OperationKind::convert) {
        c.format = reader.take("format", name, find_named(mx_block_formats, name),
                               [] { return format_names(OperationKind::quantize); });
        return;
    }
    const auto element_name = [](const BlockFormat& format) { return format.element().name; };
    count_lookup();
    const auto row = std::ranges::find(mx_block_formats, std::string_view(name), element_name);
    c.format = row == mx_block_formats.end() ? nullptr : &*row;
    if (name != formats::e8m0.name)
        reader.take("format", name, c.format, [] { return format_names(OperationKind::convert); });
}

const ElementFormat* find_input_type(std::string_view name) {
    const auto* known = std::ranges::find(input_types, name);
    return known == input_types.end() ? nullptr : find_element_format(name);
}

// Without its bits stochastic rounding is no mode: the forms say how many there are, and where.
void take_rounding(WordReader& reader, const std::string& name, ElementRules& rules) {
    rules.form = find_named(stochastic_forms, name);
    rules.rounding = Rounding::stochastic;
    if (rules.form != nullptr) return;
    const auto* row = find_named(roundings, name);
    if (row != nullptr && row->second == Rounding::stochastic) row = nullptr;
    if (reader.take("rounding", name, row, rounding_names) != nullptr) rules.rounding = row->second;
}

void take_rules(WordReader& reader, const CaseWords& words, Case& c) {
    // Rules that the operation lacks are for check_combination to refuse.
    const bool are_given =
        !words.rounding.empty() || !words.overflow.empty() || !words.subnormals.empty();
    if (are_given || has_element_rules(c)) c.rules = ElementRules{};
    if (!has_element_rules(c)) return;
    ElementRules& rules = *c.rules;
    if (!words.rounding.empty()) take_rounding(reader, words.rounding, rules);
    if (!words.overflow.empty())
        reader.take_value("overflow", words.overflow, overflows, rules.overflow, overflow_names);
    if (!words.subnormals.empty())
        reader.take_value("subnormals", words.subnormals, subnormal_rules, rules.subnormals,
                          subnormal_names);
}

Status take_block(std::int64_t given, Case& c) {
    c.block = given;
    const std::string operation(name_of(c.operation));
    if (given == 0)
        c.block = has_blocks(c) && c.format != nullptr ? c.format->block_columns : block_size;
    if (has_blocks(c)) return check_name("block", std::to_string(c.block), block_names());
    if (c.axis != BlockAxis::row)
        return bad(operation + " has no blocks, so it has no axis=" + std::string(name_of(c.axis)));
    if (c.block != block_size)
        return bad(operation + " has no blocks, so it has no block=" + std::to_string(c.block));
    return success();
}

}  // namespace

Expected<OperationKind> operation_named(const std::string& name) {
    const auto rows = operations();
    const OperationRow* row = find_named(rows, name);
    if (row == nullptr) return check_name("operation", name, operation_names()).error();
    return row->kind;
}

void take_storage(WordReader& reader, const CaseWords& words, Problem& p) {
    reader.take_value("layout", words.layout, row_layouts, p.layout, layout_names);
    reader.take_value("scales", words.scales, scale_storages, p.scales, scales_names);
    p.packing = reader.take("packing", words.packing, find_packing(words.packing), packing_names);
}

Expected<Case> case_of(const CaseWords& words) {
    const auto operation = operation_named(words.operation);
    if (!operation) return operation.error();
    if (operation.value() == OperationKind::gemm) return gemm_case_of(words);
    Case c = words.rest;
    c.operation = operation.value();
    WordReader reader;
    take_format(reader, words.format, c);
    c.dialect = reader.take("dialect", words.dialect, find_named(e8m0_quantizers, words.dialect),
                            dialect_names);
    if (const auto* type = reader.take("type", words.type, find_input_type(words.type), type_names))
        c.type = *type;
    reader.take_value("axis", words.axis, block_axes, c.axis, axis_names);
    take_storage(reader, words, c);
    take_rules(reader, words, c);
    if (!reader.status()) return reader.status().error();
    if (const Status fits = take_block(words.block, c); !fits) return fits.error();
    return c;
}

}  // namespace mx
