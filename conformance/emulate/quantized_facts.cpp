// See quantized_facts.hpp.
#include "conformance/emulate/quantized_facts.hpp"

#include <algorithm>
#include <array>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "reference/base/text.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/spec/hadamard.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::emulate {
namespace {

// What the metadata hold beside the names.
constexpr std::string_view input_key = "input_type", shape_key = "shape", hash_key = "dialect_hash",
                           version_key = "mxcheck_version";

std::string block_of(const std::string& format) {
    const BlockFormat* row = find_block_format(format);
    if (row == nullptr) return "";
    if (row->is_whole_tensor()) return "tensor";
    const std::string columns = std::to_string(row->block_columns);
    return row->block_rows == 1 ? columns : std::to_string(row->block_rows) + "x" + columns;
}

// Of blocks that lie along no axis; "" of others.
std::string own_axis(const std::string& format) {
    const BlockFormat* row = find_block_format(format);
    if (row == nullptr || row->block_rows == 1) return "";
    return std::string(name_of(row->is_whole_tensor() ? BlockAxis::tensor : BlockAxis::tile));
}

std::string packing_of(const std::string& format) {
    const BlockFormat* row = find_block_format(format);
    const int bits = row != nullptr ? row->element().code_bits() : 8;
    for (const Packing& packing : packings)
        if (packing.code_bits == bits) return std::string(packing.name);
    return std::string(packings.front().name);
}

// A file, or a user, may name what only a later version has.
Status check_known(const BlockNames& names) {
    if (const auto known = check_name("format", names.format, block_format_names()); !known)
        return known;
    return check_name("dialect", names.dialect, quantizer_names());
}

Status check_dialect(const BlockNames& names) {
    const BlockFormat& format = *find_block_format(names.format);
    if (find_quantizer(names.dialect)->quantizes(format)) return success();
    return bad_input("dialect '" + names.dialect + "' does not quantize " + names.format +
                     "; those that do are " + joined(quantizer_names(format), ", "));
}

// A format whose scales have a mantissa has blocks of one shape.
Status check_block(const BlockNames& names) {
    if (!has_real_scales(names)) return check_name("block", names.block, block_names());
    const std::string own = block_of(names.format);
    if (names.block != own)
        return bad_input("format " + names.format + " has block " + own + ", not " +
                         data::in_quotes(names.block));
    const std::string axis = own_axis(names.format);
    if (!axis.empty() && names.axis != axis)
        return bad_input("the blocks of " + names.format + " lie along no axis; leave out --axis " +
                         data::in_quotes(names.axis));
    if (axis.empty() && names.axis != "row" && names.axis != "col")
        return bad_input("blocks of " + names.format + " lie along axis row or col, not " +
                         data::in_quotes(names.axis));
    return success();
}

Error damaged(std::string_view key, const std::string& value) {
    return bad_input("its metadata are damaged: " + std::string(key) + " is " +
                     data::in_quotes(value));
}

bool is_visible(char character) {
    return character > ' ' && character <= '~';
}

// "2,40"
std::string shape_to_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t length : shape)
        text += (text.empty() ? "" : ",") + std::to_string(length);
    return text;
}

// As error: what cannot be the shape of a tensor of that type; exact values count as f32.
Expected<std::vector<std::int64_t>> shape_from(const std::string& text, std::string_view type) {
    if (type == exact_input) type = formats::f32.name;
    const Error wrong = damaged(shape_key, text);
    std::vector<std::int64_t> shape;
    for (std::size_t first = 0; first <= text.size();) {
        const std::size_t end = std::min(text.find(',', first), text.size());
        const auto length = parse_number("shape", text.substr(first, end - first));
        if (!length || length.value() > INT64_MAX) return wrong;
        shape.push_back(static_cast<std::int64_t>(length.value()));
        first = end + 1;
    }
    if (!data::byte_count(*data::find_tensor_type(type), shape)) return wrong;
    return shape;
}

Status check_complete(const data::TensorFile& file) {
    std::vector<std::string_view> keys{input_key, shape_key, hash_key, version_key};
    for (const data::NameKey& name : data::name_keys) keys.push_back(name.key);
    const auto lacks = [&](std::string_view key) { return metadata_in(file, key).empty(); };
    if (std::ranges::all_of(keys, lacks))
        return bad_input(
            "has no metadata that say how it was quantized; mxcheck quantize writes them");
    for (const std::string_view key : keys) {
        if (lacks(key))
            return bad_input("its metadata are damaged: they do not say its " + std::string(key));
        // What no name looks like would go on to other sentences as it is.
        const std::string value = metadata_in(file, key);
        if (value.size() > 80 || !std::ranges::all_of(value, is_visible))
            return damaged(key, value);
    }
    return success();
}

// What the user believes must be a name at all before it can contradict.
Status check_given(const BlockNames& carried, const BlockNames& given) {
    for (const auto& [key, member] : data::name_keys) {
        const std::string& belief = given.*member;
        if (belief.empty() || belief == carried.*member) continue;
        BlockNames merged = carried;
        merged.*member = belief;
        if (completed(merged).*member == carried.*member) continue;
        if (const Status known = check_known(merged); !known) return known;
        return bad_input("was quantized with " + names_text(carried) + "; --" + std::string(key) +
                         " " + belief + " contradicts it");
    }
    return success();
}

Status check_definition(const data::TensorFile& file, const std::string& dialect) {
    const std::string theirs = metadata_in(file, hash_key);
    const std::string ours = rules_hash(dialect);
    if (theirs == ours) return success();
    return bad_input("was made by mxcheck " + metadata_in(file, version_key) +
                     " under another definition of dialect " + dialect + " (its hash is " +
                     data::in_quotes(theirs.substr(0, 12)) + ", here " +
                     data::in_quotes(ours.substr(0, 12)) + ")");
}

// Without what only describes the row.
std::string fields_text(const Quantizer& quantizer) {
    std::string text;
    if (quantizer.has_e8m0_scales()) {
        for (const DialectField& field : dialect_fields())
            text += std::string(field.name) + "=" + field.value_of(quantizer) + "\n";
        return text;
    }
    constexpr std::array descriptions{"formats", "left_open", "source", "known_by"};
    for (const auto& [name, value] : recipe_fields(quantizer))
        if (std::ranges::find(descriptions, name) == descriptions.end())
            text += name + "=" + value + "\n";
    return text;
}

}  // namespace

BlockNames completed(BlockNames names) {
    const auto set = [](std::string& name, const std::string& value) {
        if (name.empty()) name = value;
    };
    set(names.dialect, "ocp");
    set(names.axis, "row");
    // What files said before, and users may.
    if (names.axis == "row" && has_own_axis(names.format)) names.axis = own_axis(names.format);
    set(names.block, block_of(names.format));
    set(names.scales, "linear");
    set(names.packing, packing_of(names.format));
    return names;
}

Status check_names(const BlockNames& names) {
    if (const Status known = check_known(names); !known) return known;
    if (const Status known = check_block(names); !known) return known;
    if (const Status quantizes = check_dialect(names); !quantizes) return quantizes;
    if (names.axis == "both")
        return bad_input(
            "a file holds the blocks of one axis: quantize with axis row, and again with "
            "axis col");
    auto p = problem_of(names, OperationKind::quantize);
    if (!p) return p.error();
    // Whether the dialect reads a type is asked once there is a tensor.
    for (const std::string_view type : input_types)
        if (p.value().dialect->reads(type)) p.value().type = *find_element_format(type);
    // One group of whatever the dialect rotates.
    p.value().rows = p.value().columns = hadamard_size;
    return check_combination(p.value());
}

bool has_own_axis(const std::string& format) {
    return !own_axis(format).empty();
}

bool has_real_scales(const BlockNames& names) {
    const BlockFormat* format = find_block_format(names.format);
    return format != nullptr && !format->has_e8m0_scales();
}

std::string rules_hash(const std::string& dialect) {
    return sha256(fields_text(*find_quantizer(dialect)));
}

std::vector<std::pair<std::string, std::string>> metadata_of(const QuantizedFacts& facts,
                                                             const std::string& program_version) {
    std::vector<std::pair<std::string, std::string>> metadata;
    for (const auto& [key, member] : data::name_keys)
        metadata.emplace_back(key, facts.names.*member);
    metadata.emplace_back(input_key, facts.input_type);
    metadata.emplace_back(shape_key, shape_to_text(facts.shape));
    metadata.emplace_back(hash_key, rules_hash(facts.names.dialect));
    metadata.emplace_back(version_key, program_version);
    return metadata;
}

Expected<QuantizedFacts> read_facts(const data::TensorFile& file, const BlockNames& given) {
    if (const Status complete = check_complete(file); !complete) return complete.error();
    QuantizedFacts facts;
    facts.names = completed(carried_names(file));
    if (const Status agreed = check_given(facts.names, given); !agreed) return agreed.error();
    const auto untrue = [&](const Error& error) {
        return bad_input("its metadata, written by mxcheck " + metadata_in(file, version_key) +
                         ", are not for this version: " + error.message);
    };
    if (const Status known = check_names(facts.names); !known) return untrue(known.error());
    const Status same = check_definition(file, facts.names.dialect);
    if (!same) return same.error();
    facts.input_type = metadata_in(file, input_key);
    std::vector<std::string> types = type_names();
    types.emplace_back(exact_input);
    const Status type = check_name("input_type", facts.input_type, types);
    if (!type) return untrue(type.error());
    auto shape = shape_from(metadata_in(file, shape_key), facts.input_type);
    if (!shape) return shape.error();
    facts.shape = std::move(shape).value();
    return facts;
}

}  // namespace mx::emulate
