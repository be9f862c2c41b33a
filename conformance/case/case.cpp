// See case.hpp.
#include "conformance/case/case.hpp"

#include <algorithm>
#include <span>

#include "conformance/case/combination.hpp"
#include "conformance/case/field_names.hpp"
#include "conformance/case/field_row.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/case/operations.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

bool always(const Case&) {
    return true;
}
bool is_no_gemm(const Case& c) {
    return !is_gemm(c);
}
bool stores_codes(const Case& c) {
    return has_blocks(c) || is_gemm(c);
}
template <const std::string_view& key>
bool type_is_called(const Case& c) {
    return is_no_gemm(c) && operation_of(c).type_key == key;
}

template <std::string Case::*member>
std::string text_of(const Case& c) {
    return c.*member;
}
template <std::string Case::*member>
Status set_text(Case& c, const std::string& value) {
    c.*member = value;
    return success();
}
template <auto member>
std::string number_text_of(const Case& c) {
    return std::to_string(c.*member);
}

std::string shape_text_of(const Case& c) {
    return std::to_string(c.rows) + "x" + std::to_string(c.columns);
}
Status set_shape(Case& c, const std::string& value) {
    const auto shape = parse_shape(value);
    if (!shape) return shape.error();
    c.rows = shape.value().rows;
    c.columns = shape.value().columns;
    return success();
}
Status set_block(Case& c, const std::string& value) {
    const Status known = check_name("block", value, block_names());
    if (known) c.block = static_cast<std::int64_t>(parse_number("block", value).value());
    return known;
}
template <std::uint64_t Case::*member>
Status set_number(Case& c, const std::string& value) {
    const auto number = parse_number(member == &Case::index ? "index" : "seed", value);
    if (!number) return number.error();
    c.*member = number.value();
    return success();
}

constexpr std::string_view input_key = "input", output_key = "output";

// In the order they are printed. A GEMM has its own, and of these those without a row of that name.
constexpr FieldRow fields[] = {
    {"format", is_no_gemm, text_of<&Case::format>, set_text<&Case::format>},
    {"dialect", is_no_gemm, text_of<&Case::dialect>, set_text<&Case::dialect>},
    {input_key, type_is_called<input_key>, text_of<&Case::type>, set_text<&Case::type>},
    {output_key, type_is_called<output_key>, text_of<&Case::type>, set_text<&Case::type>},
    {"axis", has_blocks, text_of<&Case::axis>, set_text<&Case::axis>},
    {"block", has_blocks, number_text_of<&Case::block>, set_block},
    {"rounding", has_element_rules, text_of<&Case::rounding>, set_text<&Case::rounding>},
    {"overflow", has_element_rules, text_of<&Case::overflow>, set_text<&Case::overflow>},
    {"subnormals", has_element_rules, text_of<&Case::subnormals>, set_text<&Case::subnormals>},
    {"layout", always, text_of<&Case::layout>, set_text<&Case::layout>},
    {"scales", stores_codes, text_of<&Case::scales>, set_text<&Case::scales>},
    {"packing", stores_codes, text_of<&Case::packing>, set_text<&Case::packing>},
    {"shape", is_no_gemm, shape_text_of, set_shape},
    {"data", always, text_of<&Case::data>, set_text<&Case::data>},
    {"index", always, number_text_of<&Case::index>, set_number<&Case::index>},
    {"seed", always, number_text_of<&Case::seed>, set_number<&Case::seed>},
};

// input= and output= are one field under the operation's own name for it. Of the others those that
// the operation lacks get a sentence of their own, from check_combination; but a GEMM and the
// others have too little in common for that.
bool is_of_others(const Case& c, const FieldRow& row) {
    if (is_gemm(c)) return !row.applies(c);
    return (row.key == input_key || row.key == output_key) && row.key != operation_of(c).type_key;
}

Status assign(Case& c, const KeyValue& field) {
    std::vector<std::string> known;
    const std::span<const FieldRow> of_gemm =
        is_gemm(c) ? gemm_field_rows() : std::span<const FieldRow>();
    for (const std::span<const FieldRow> rows : {of_gemm, std::span<const FieldRow>(fields)})
        for (const FieldRow& row : rows) {
            if (rows.data() == fields && is_of_others(c, row)) continue;
            if (row.key == field.key) return row.set(c, field.value);
            known.emplace_back(row.key);
        }
    return check_name("field", field.key, known);
}

// Fields that were not given; a block= that was not given is 0.
void set_defaults(Case& c) {
    const auto set = [](std::string& text, const char* value) {
        if (text.empty()) text = value;
    };
    if (c.block == 0) {
        const BlockFormat* format = find_block_format(c.format);
        c.block = has_blocks(c) && format != nullptr ? format->block_columns : block_size;
    }
    if (!has_element_rules(c)) return;
    set(c.rounding, "nearest_even");
    set(c.overflow, "saturate");
    set(c.subnormals, "honoured");
}

Status check_given(const Case& c, const Words& words) {
    bool has_shape = false;
    for (const KeyValue& field : words.fields) has_shape = has_shape || field.key == "shape";
    if (!has_shape)
        return bad(is_gemm(c) ? "the case has no shape=MxNxK"
                              : "the case has no shape=ROWSxCOLUMNS");
    if (is_gemm(c) && c.gemm.a.empty()) return bad("the case has no a=");
    if (is_gemm(c) && c.gemm.b.empty()) return bad("the case has no b=");
    if (!is_gemm(c) && c.format.empty()) return bad("the case has no format=");
    if (c.data.empty()) return bad("the case has no data=");
    return success();
}

}  // namespace

bool is_gemm(const Case& c) {
    return operation_of(c).kind == OperationKind::gemm;
}

bool has_blocks(const Case& c) {
    const OperationKind kind = operation_of(c).kind;
    return kind == OperationKind::quantize || kind == OperationKind::dequantize;
}

std::int64_t element_count(const Case& c) {
    return c.rows * c.columns;
}

std::int64_t lanes_of(const Case& c) {
    return c.axis == "tile" ? c.block * c.block : c.block;
}

BlockGrid block_grid(const Case& c) {
    const auto blocks = [&c](std::int64_t length) { return (length + c.block - 1) / c.block; };
    if (!has_blocks(c)) return {1, blocks(element_count(c))};
    if (c.axis == "both") return {blocks(c.rows), blocks(c.columns) * c.block};
    return {c.axis == "row" ? c.rows : blocks(c.rows),
            c.axis == "col" ? c.columns : blocks(c.columns)};
}

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const FieldRow& row : fields) names.emplace_back(row.key);
    for (const FieldRow& row : gemm_field_rows()) {
        const auto is_it = [&row](const FieldRow& other) { return other.key == row.key; };
        if (std::ranges::none_of(fields, is_it)) names.emplace_back(row.key);
    }
    return names;
}

std::string print(const Case& c) {
    std::string text = c.operation;
    for (const std::span<const FieldRow> rows :
         {gemm_field_rows(), std::span<const FieldRow>(fields)})
        for (const FieldRow& row : rows)
            if (row.applies(c)) text += " " + print_field(row.key, row.text(c));
    return text;
}

Expected<Case> read_case(const std::string& text) {
    const auto words = split_words(text);
    if (!words) return words.error();
    Case c;
    c.operation = words.value().head;
    const Status known = check_name("operation", c.operation, operation_names());
    if (!known) return known.error();
    c.dialect = is_gemm(c) ? "" : "ocp";
    c.type = "f32";
    c.axis = "row";
    c.layout = "dense";
    c.block = 0;
    for (const KeyValue& field : words.value().fields)
        if (const Status assigned = assign(c, field); !assigned) return assigned.error();
    if (const Status given = check_given(c, words.value()); !given)
        return bad(given.error().message + ": " + text);
    set_defaults(c);
    if (is_gemm(c)) complete_gemm(c);
    if (const Status names = check_case_names(c); !names) return names.error();
    return c;
}

Expected<Case> parse_case(const std::string& text) {
    auto c = read_case(text);
    if (!c) return c.error();
    if (const Status fits = check_combination(c.value()); !fits) return fits.error();
    return c;
}

Status validate(const Case& c) {
    const Status names = check_case_names(c);
    return names ? check_combination(c) : names;
}

}  // namespace mx
