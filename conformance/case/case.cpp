// See case.hpp.
#include "conformance/case/case.hpp"

#include <algorithm>
#include <span>

#include "conformance/case/case_words.hpp"
#include "conformance/case/field_names.hpp"
#include "conformance/case/field_row.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "reference/base/hex.hpp"

namespace mx {
namespace {

bool always(const Case&) {
    return true;
}
bool is_no_gemm(const Case& c) {
    return !is_gemm(c);
}
bool is_in_blocks(const Case& c) {
    return has_blocks(c);
}
bool is_in_small_blocks(const Case& c) {
    return has_blocks(c) && !c.format->is_whole_tensor();
}
bool takes_tensor_number(const Case& c) {
    return has_tensor_number(c);
}
bool has_rules(const Case& c) {
    return has_element_rules(c);
}
bool stores_codes(const Case& c) {
    return has_blocks(c) || is_gemm(c);
}
template <const std::string_view& key>
bool type_is_called(const Case& c) {
    return is_no_gemm(c) && row_of(c.operation).type_key == key;
}

template <auto function>
std::string name_from(const Case& c) {
    return std::string(function(c));
}
template <auto member>
std::string name_of_member(const Case& c) {
    return std::string(name_of(c.*member));
}
template <auto member>
std::string rule_name(const Case& c) {
    return c.rules ? std::string(name_of((*c.rules).*member)) : "";
}
std::string rounding_text(const Case& c) {
    return c.rules ? std::string(rounding_name_of(*c.rules)) : "";
}
std::string tensor_text(const Case& c) {
    return c.tensor_number ? "0x" + hex(*c.tensor_number, 8) : std::string(derived_number);
}
std::string packing_text(const Case& c) {
    return std::string(c.packing->name);
}
std::string data_text(const Case& c) {
    return c.data;
}
Status set_data(CaseWords& words, const std::string& value) {
    words.rest.data = value;
    return success();
}
template <auto member>
std::string number_text_of(const Case& c) {
    return std::to_string(c.*member);
}

std::string shape_text_of(const Case& c) {
    return std::to_string(c.rows) + "x" + std::to_string(c.columns);
}
Status set_shape(CaseWords& words, const std::string& value) {
    const auto shape = parse_shape(value);
    if (!shape) return shape.error();
    words.rest.rows = shape.value().rows;
    words.rest.columns = shape.value().columns;
    return success();
}
Status set_block(CaseWords& words, const std::string& value) {
    const Status known = check_name("block", value, all_block_names());
    if (known) words.block = static_cast<std::int64_t>(parse_number("block", value).value());
    return known;
}
template <std::uint64_t Case::*member>
Status set_number(CaseWords& words, const std::string& value) {
    const auto number = parse_number(member == &Case::index ? "index" : "seed", value);
    if (!number) return number.error();
    words.rest.*member = number.value();
    return success();
}

constexpr std::string_view input_key = "input", output_key = "output";

// In the order they are printed. A GEMM has its own, and of these those without a row of that name.
constexpr FieldRow fields[] = {
    {"format", is_no_gemm, name_from<format_name>, set_word<&CaseWords::format>},
    {"dialect", is_no_gemm, name_from<dialect_name>, set_word<&CaseWords::dialect>},
    {input_key, type_is_called<input_key>, name_from<type_name>, set_word<&CaseWords::type>},
    {output_key, type_is_called<output_key>, name_from<type_name>, set_word<&CaseWords::type>},
    {"axis", is_in_blocks, name_of_member<&Case::axis>, set_word<&CaseWords::axis>},
    {"block", is_in_small_blocks, number_text_of<&Case::block>, set_block},
    {"tensor", takes_tensor_number, tensor_text, set_word<&CaseWords::tensor>},
    {"rounding", has_rules, rounding_text, set_word<&CaseWords::rounding>},
    {"overflow", has_rules, rule_name<&ElementRules::overflow>, set_word<&CaseWords::overflow>},
    {"subnormals", has_rules, rule_name<&ElementRules::subnormals>,
     set_word<&CaseWords::subnormals>},
    {"layout", always, name_of_member<&Case::layout>, set_word<&CaseWords::layout>},
    {"scales", stores_codes, name_of_member<&Case::scales>, set_word<&CaseWords::scales>},
    {"packing", stores_codes, packing_text, set_word<&CaseWords::packing>},
    {"shape", is_no_gemm, shape_text_of, set_shape},
    {"data", always, data_text, set_data},
    {"index", always, number_text_of<&Case::index>, set_number<&Case::index>},
    {"seed", always, number_text_of<&Case::seed>, set_number<&Case::seed>},
};

// input= and output= are one field under the operation's own name for it. Of the others those that
// the operation lacks get a sentence of their own, from check_combination; but a GEMM and the
// others have too little in common for that.
bool is_of_others(const Case& c, const FieldRow& row) {
    if (is_gemm(c)) return !row.applies(c);
    return (row.key == input_key || row.key == output_key) &&
           row.key != row_of(c.operation).type_key;
}

Status assign(CaseWords& words, const KeyValue& field) {
    const Case& c = words.rest;
    std::vector<std::string> known;
    const std::span<const FieldRow> of_gemm =
        is_gemm(c) ? gemm_field_rows() : std::span<const FieldRow>();
    for (const std::span<const FieldRow> rows : {of_gemm, std::span<const FieldRow>(fields)})
        for (const FieldRow& row : rows) {
            if (rows.data() == fields && is_of_others(c, row)) continue;
            if (row.key == field.key) return row.set(words, field.value);
            known.emplace_back(row.key);
        }
    return check_name("field", field.key, known);
}

Status check_given(const CaseWords& words, const Words& line) {
    bool has_shape = false;
    for (const KeyValue& field : line.fields) has_shape = has_shape || field.key == "shape";
    const bool multiplies = is_gemm(words.rest);
    if (!has_shape)
        return bad_input(multiplies ? "the case has no shape=MxNxK"
                                    : "the case has no shape=ROWSxCOLUMNS");
    if (multiplies && words.a.empty()) return bad_input("the case has no a=");
    if (multiplies && words.b.empty()) return bad_input("the case has no b=");
    if (!multiplies && words.format.empty()) return bad_input("the case has no format=");
    if (words.rest.data.empty()) return bad_input("the case has no data=");
    return success();
}

// Lines of records, packs and waivers that were written before a row was mended, and what they ask
// today. A line is only read so, and never printed; a suite is not, for it asks what there is.
struct Successor {
    std::string_view dialect, format, today;
};
constexpr Successor successors[] = {
    // Its INT8 has no -128: seen in microxcaling's run, after the rows had been given MXINT8.
    {"microxcaling", "mxint8", "mxint8-symmetric"},
    {"microxcaling", "int8", "int8-symmetric"},
    {"microxcaling-cuda", "mxint8", "mxint8-symmetric"},
    {"microxcaling-cuda", "int8", "int8-symmetric"},
};

void follow_successor(CaseWords& words) {
    for (const Successor& successor : successors)
        if (words.dialect == successor.dialect && words.format == successor.format) {
            words.format = successor.today;
            return;
        }
}

Expected<CaseWords> words_of(const std::string& text) {
    const auto line = split_words(text);
    if (!line) return line.error();
    CaseWords words;
    words.operation = line.value().head;
    const auto operation = operation_named(words.operation);
    if (!operation) return operation.error();
    words.rest.operation = operation.value();
    if (!is_gemm(words.rest)) words.dialect = "ocp";
    for (const KeyValue& field : line.value().fields)
        if (const Status assigned = assign(words, field); !assigned) return assigned.error();
    if (const Status given = check_given(words, line.value()); !given)
        return bad_input(given.error().message + ": " + text);
    return words;
}

}  // namespace

std::string format_name(const Problem& p) {
    if (is_gemm(p)) return name_of(p.gemm.a);
    if (p.operation == OperationKind::convert) return std::string(element_format_of(p).name);
    return p.format == nullptr ? "" : std::string(p.format->name);
}

std::string dialect_name(const Problem& p) {
    return p.dialect == nullptr ? "" : std::string(p.dialect->name);
}

std::string type_name(const Problem& p) {
    return is_gemm(p) ? name_of(p.gemm.output) : std::string(p.type.name);
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
    std::string text(name_of(c.operation));
    for (const std::span<const FieldRow> rows :
         {gemm_field_rows(), std::span<const FieldRow>(fields)})
        for (const FieldRow& row : rows)
            if (row.applies(c)) text += " " + print_field(row.key, row.text(c));
    return text;
}

Expected<Case> read_case(const std::string& text) {
    const auto words = words_of(text);
    return words ? case_of(words.value()) : Expected<Case>(words.error());
}

Expected<Case> parse_case(const std::string& text) {
    auto words = words_of(text);
    if (!words) return words.error();
    follow_successor(words.value());
    auto c = case_of(words.value());
    if (!c) return c.error();
    if (const Status fits = check_combination(c.value()); !fits) return fits.error();
    return c;
}

}  // namespace mx
