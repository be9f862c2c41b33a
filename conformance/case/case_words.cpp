// See case_words.hpp, and case_of in case.hpp.
#include "conformance/case/case_words.hpp"

#include <algorithm>
#include <charconv>

#include "reference/spec/cast_formats.hpp"

namespace mx {
namespace {

// convert names an element format, or e8m0; all others a block format.
void take_format(WordReader& reader, const std::string& name, Case& c) {
    if (has_blocks(c)) {
        c.format = reader.take("format", name, find_block_format(name), block_format_names);
        return;
    }
    if (c.operation != OperationKind::convert) {
        c.format = reader.take("format", name, find_named(mx_block_formats, name),
                               [] { return format_names(OperationKind::quantize); });
        return;
    }
    c.format = find_converted_format(name);
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

// Only a format whose scales are powers of two has blocks of any size.
Status take_block(std::int64_t given, Case& c) {
    c.block = given;
    const std::string operation(name_of(c.operation));
    if (given == 0)
        c.block = has_blocks(c) && c.format != nullptr ? c.format->block_columns : block_size;
    if (has_blocks(c) && !c.format->has_e8m0_scales()) {
        if (c.block == c.format->block_columns) return success();
        return bad_input("format '" + std::string(c.format->name) + "' has blocks of " +
                         std::to_string(c.format->block_rows) + "x" +
                         std::to_string(c.format->block_columns) +
                         ", not block=" + std::to_string(given));
    }
    if (has_blocks(c)) return check_name("block", std::to_string(c.block), block_names());
    if (c.axis != BlockAxis::row)
        return bad_input(operation +
                         " has no blocks, so it has no axis=" + std::string(name_of(c.axis)));
    if (c.block != block_size)
        return bad_input(operation +
                         " has no blocks, so it has no block=" + std::to_string(c.block));
    return success();
}

// Rows, but for blocks that are squares or the whole tensor.
std::string_view axis_of(const BlockFormat* format) {
    if (format != nullptr && format->is_whole_tensor()) return name_of(BlockAxis::tensor);
    return name_of(format != nullptr && format->block_rows > 1 ? BlockAxis::tile : BlockAxis::row);
}

// Is it for the caller to give the number, whatever the values?
bool needs_tensor_number(const Problem& p) {
    if (!has_tensor_number(p)) return false;
    return p.operation == OperationKind::dequantize ||
           p.dialect->tensor_scale == TensorScale::history;
}

std::string why_not_derived(const Problem& p) {
    const std::string dialect = "dialect '" + std::string(p.dialect->name) + "'";
    if (!has_blocks(p))
        return std::string(name_of(p.operation)) + " has no blocks, so it has no tensor=";
    if (!has_tensor_number(p))
        return dialect + " has no number for the whole tensor, so it has no tensor=";
    const std::string code = ": tensor= is the code of a binary32 number, such as 0x3f800000";
    if (p.operation == OperationKind::dequantize)
        return "dequantize takes the number that quantize kept" + code;
    return dialect + " takes its scale from earlier tensors" + code;
}

Expected<std::uint32_t> number_code(const std::string& word) {
    std::uint32_t code = 0;
    const std::string_view digits = std::string_view(word).substr(word.starts_with("0x") ? 2 : 0);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (word.starts_with("0x") && error == std::errc{} && end == digits.data() + digits.size())
        return code;
    return bad_input("tensor '" + word + "' is neither " + std::string(derived_number) +
                     " nor the code of a binary32 number, such as 0x3f800000");
}

// Whether the dialect has such a number is for check_combination to say.
Status take_tensor_number(const std::string& word, Case& c) {
    constexpr std::uint32_t one = 0x3F800000;
    if (word.empty() && needs_tensor_number(c)) c.tensor_number = one;
    if (word.empty()) return success();
    if (word == derived_number) {
        if (has_tensor_number(c) && !needs_tensor_number(c)) return success();
        return bad_input(why_not_derived(c));
    }
    const auto code = number_code(word);
    if (!code) return code.error();
    c.tensor_number = code.value();
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
    c.dialect =
        has_blocks(c)
            ? reader.take("dialect", words.dialect, find_quantizer(words.dialect), quantizer_names)
        : c.operation == OperationKind::convert
            ? reader.take("dialect", words.dialect, find_converter(words.dialect), converter_names)
            : reader.take("dialect", words.dialect, find_named(e8m0_quantizers, words.dialect),
                          dialect_names);
    if (const auto* type = reader.take("type", words.type, find_input_type(words.type), type_names))
        c.type = *type;
    reader.take_value("axis",
                      words.axis.empty() ? axis_of(has_blocks(c) ? c.format : nullptr) : words.axis,
                      block_axes, c.axis, axis_names);
    take_storage(reader, words, c);
    take_rules(reader, words, c);
    if (!reader.status()) return reader.status().error();
    if (const Status fits = take_block(words.block, c); !fits) return fits.error();
    if (const Status fits = take_tensor_number(words.tensor, c); !fits) return fits.error();
    return c;
}

}  // namespace mx
