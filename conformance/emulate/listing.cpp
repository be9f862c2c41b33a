// See listing.hpp.
#include "conformance/emulate/listing.hpp"

#include <nlohmann/json.hpp>

#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/gemm_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/model_verification.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/verification.hpp"

namespace mx::emulate {
namespace {

void append(std::string& list, std::string_view name) {
    list += (list.empty() ? "" : ", ") + std::string(name);
}

std::string or_nothing(const std::string& list) {
    return list.empty() ? "nothing" : list;
}

std::string commas(std::string_view words) {
    std::string list;
    for (const char letter : words) list += letter == ' ' ? ", " : std::string(1, letter);
    return list;
}

// Rows x columns of a block that lies along rows.
std::string block_text(const BlockFormat& f) {
    if (f.is_whole_tensor()) return "tensor";
    return std::to_string(f.block_rows) + "x" + std::to_string(f.block_columns);
}

// The quantizers whose elements are rounded so, or those that are not where they are fewer.
std::string quantizers_that_round(Rounding rounding) {
    std::string with, without;
    std::size_t count_with = 0, count_without = 0;
    for (const Quantizer& quantizer : quantizers) {
        // Casts to E8M0 have no elements, and of a conversion the case says how it rounds.
        if (quantizer.formats == FormatSet{} || !quantizer.has_scales()) continue;
        const bool rounds_so = quantizer.element_rounding == rounding;
        append(rounds_so ? with : without, quantizer.name);
        ++(rounds_so ? count_with : count_without);
    }
    return count_with > count_without ? "all but " + or_nothing(without) : or_nothing(with);
}

Listed listed_element(const ElementFormat& f) {
    return {std::string(f.name),
            std::to_string(f.sign_bits) + " sign, " + std::to_string(f.exponent_bits) +
                " exponent, " + std::to_string(f.mantissa_bits) + " mantissa bits, bias " +
                std::to_string(f.exponent_bias),
            {{"source", std::string(f.source)}}};
}

// What a case of convert does not name itself.
Listed listed_conversion(const Quantizer& row) {
    std::string makes, reads;
    for (const BlockFormat& format : mx_block_formats)
        if (contains(row.formats, format)) append(makes, format.element().name);
    for (const std::string_view type : input_types)
        if (row.reads(type)) append(reads, type);
    return {std::string(row.name),
            std::string(row.title),
            {{"quantizes", "nothing: it converts single values"},
             {"converts_to", makes},
             {"reads", reads},
             {"nan_code", value_in("nan_code", row)},
             {"sign_of_zero", value_in("sign_of_zero", row)},
             {"source", std::string(row.source)},
             {"known_by", known_by(row.name)}}};
}

}  // namespace

std::vector<Listed> listed_quantizers() {
    std::vector<Listed> rows;
    for (const Quantizer& dialect : e8m0_quantizers) {
        Listed row{std::string(dialect.name), std::string(dialect.title), {}};
        std::string quantizes, reads, open;
        for (const BlockFormat& format : mx_block_formats)
            if (dialect.quantizes(format)) append(quantizes, format.name);
        for (const std::string_view type : input_types)
            if (dialect.reads(type)) append(reads, type);
        for (const auto& [name, text, decision] : decisions)
            if (dialect.leaves_open(decision)) append(open, name);
        for (const DialectField& field : dialect_fields())
            row.decisions.emplace_back(field.name, field.value_of(dialect));
        row.fields = {{"quantizes", quantizes.empty() ? "nothing: a cast to e8m0" : quantizes},
                      {"reads", reads},
                      {"left_open", or_nothing(open)},
                      {"source", std::string(dialect.source)},
                      {"known_by", known_by(dialect.name)}};
        if (!dialect.is_known()) row.fields.emplace_back("waits_for", dialect.waits);
        rows.push_back(row);
    }
    for (const Quantizer& recipe : real_scale_quantizers)
        rows.push_back(
            {std::string(recipe.name), std::string(recipe.title), recipe_fields(recipe)});
    for (const Quantizer& conversion : conversions) rows.push_back(listed_conversion(conversion));
    return rows;
}

std::vector<Listed> listed_formats() {
    std::vector<Listed> rows;
    for (const BlockFormat& f : block_formats)
        rows.push_back({std::string(f.name),
                        block_format_text(f),
                        {{"element", std::string(f.element().name)},
                         {"scale", std::string(scale_in_tensors(f).name)},
                         {"block", block_text(f)},
                         {"source", std::string(f.source)}}});
    for (const ElementFormat& f : element_formats) rows.push_back(listed_element(f));
    return rows;
}

std::vector<Listed> listed_models() {
    std::vector<Listed> rows{{"exact",
                              "all scaled products summed exactly, and the sum rounded once",
                              {{"operands", "every factor that gemm reads"},
                               {"standing", "the standard's sum, with no freedom taken"},
                               {"gelu", gelu_text},
                               {"source", "OCP MX v1.0 sections 6.1 and 6.2"}}}};
    for (const GemmModel& model : gemm_models)
        rows.push_back(listed_model(model, std::string(standing_text(model.standing))));
    return rows;
}

Listed listed_model(const GemmModel& model, const std::string& standing) {
    Listed row{std::string(model.name),
               gemm_model_text(model),
               {{"operands", commas(model.operands)},
                {"standing", standing},
                {"known_by", model_known_by(model.name)},
                {"machines", commas(model.machines)},
                {"source", std::string(model.source)}}};
    if (!model.open.empty()) row.fields.emplace_back("open", model.open);
    return row;
}

std::vector<Listed> listed_roundings() {
    std::vector<Listed> rows;
    for (const auto& [name, rounding] : roundings) {
        std::string in_case_lines = "rounding=" + std::string(name);
        if (rounding == Rounding::stochastic) {
            in_case_lines.clear();
            for (const StochasticForm& form : stochastic_forms)
                append(in_case_lines, "rounding=" + std::string(form.name));
        }
        rows.push_back(
            {std::string(name),
             std::string(meaning_of(rounding)),
             {{"case_lines", in_case_lines}, {"quantizers", quantizers_that_round(rounding)}}});
    }
    for (const StochasticForm& form : stochastic_forms)
        rows.push_back({std::string(form.name),
                        "stochastic, where " + std::to_string(form.bits) +
                            " bits of a random word decide a value and a word serves " +
                            (form.values_per_word == 1
                                 ? std::string("one value")
                                 : std::to_string(form.values_per_word) + " values of a row") +
                            ".",
                        {{"case_lines", "rounding=" + std::string(form.name)}}});
    return rows;
}

std::vector<Listed> listed_layouts() {
    std::vector<Listed> rows;
    for (const Packing& packing : packings)
        rows.push_back(
            {std::string(packing.layout),
             packing.code_bits == 0 ? "of codes"
                                    : "of codes of " + std::to_string(packing.code_bits) + " bits",
             {{"packing", std::string(packing.name)}, {"source", std::string(packing.source)}}});
    for (const ScaleLayout& layout : scale_layouts)
        rows.push_back({std::string(layout.name),
                        "of scales of blocks along axis " + std::string(name_of(layout.axis)) +
                            ", filled up to " + std::to_string(layout.outer_multiple) + " and " +
                            std::to_string(layout.inner_multiple),
                        {{"across_blocks", std::to_string(layout.outer_multiple)},
                         {"along_blocks", std::to_string(layout.inner_multiple)},
                         {"pads", layout.pads == Pads::zero ? "0" : "anything"},
                         {"source", std::string(layout.source)}}});
    return rows;
}

std::string json_of(const std::vector<Listed>& rows) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Listed& row : rows) {
        nlohmann::ordered_json item{{"name", row.name}, {"text", row.text}};
        for (const auto& [key, value] : row.fields) item[key] = value;
        for (const auto& [key, value] : row.decisions) item["decisions"][key] = value;
        list.push_back(item);
    }
    return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mx::emulate
