// See recipe_explain.hpp. What is shown comes from the exact oracle and is held against the fast
// one.
#include "conformance/emulate/recipe_explain.hpp"

#include <functional>

#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/emulate/text_table.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/exact/real_scale.hpp"
#include "reference/fast/block.hpp"
#include "reference/fast/real_scale.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

std::string heading(const std::string& text) {
    return "\n" + text + "\n";
}

// The answer of one recipe to the lanes: exact, and the fast oracle's codes beside it.
struct RecipeAnswer {
    std::vector<exact::Value> lanes;  // after the transform
    exact::TensorNumbers tensor;
    exact::ScaledBlock block;
    std::vector<Code> fast_codes;  // the scale, then the elements
};

// The bits of an explanation's stochastic rounding: half of all, for each lane.
constexpr RandomBits half_of_all{128, 8};

std::vector<Code> fast_codes_of(const Quantizer& recipe, const BlockFormat& format,
                                const ElementFormat& input, const std::vector<Code>& lanes) {
    std::vector<fast::Unpacked> values;
    for (const Code lane : lanes) values.push_back(fast::unpack(input, lane));
    if (recipe.transform == LaneTransform::hadamard16) {
        const std::vector<fast::Unpacked> before = values;
        for (int to = 0; to < hadamard_size; ++to)
            values[static_cast<std::size_t>(to)] = fast::rotated_lane(before.data(), to);
    }
    const auto count = static_cast<int>(values.size());
    const fast::Unpacked amax = fast::amax_of_values(recipe, values.data(), count);
    const fast::BlockQuestion question{recipe, format, input,
                                       fast::tensor_numbers(recipe, format, amax, fast::whole(1))};
    const fast::BlockScale scale = fast::chosen_scale(
        question, amax, count, [&](int lane) { return values[static_cast<std::size_t>(lane)]; });
    std::vector<Code> codes{scale.stored};
    for (const fast::Unpacked& value : values)
        codes.push_back(fast::quantize_lane(question, scale, value, half_of_all));
    return codes;
}

RecipeAnswer answer_of(const Quantizer& recipe, const BlockFormat& format,
                       const ElementFormat& input, const std::vector<Code>& lanes) {
    RecipeAnswer answer;
    for (const Code lane : lanes) answer.lanes.push_back(exact::decode(input, lane));
    answer.lanes = exact::transformed(recipe, answer.lanes);
    answer.tensor = exact::tensor_numbers(recipe, format, exact::amax_of(recipe, answer.lanes),
                                          exact::number(1));
    const std::vector<RandomBits> random(lanes.size(), half_of_all);
    answer.block =
        exact::quantize_block({recipe, format, input, answer.tensor}, answer.lanes, random);
    answer.fast_codes = fast_codes_of(recipe, format, input, lanes);
    return answer;
}

std::string fault_in(const Quantizer& recipe, const RecipeAnswer& answer) {
    std::vector<Code> codes{answer.block.scale.stored};
    codes.insert(codes.end(), answer.block.elements.begin(), answer.block.elements.end());
    return codes == answer.fast_codes
               ? ""
               : "the fast and the exact oracle differ on dialect " + std::string(recipe.name);
}

std::string f32_text(const exact::Value& value) {
    const Code code = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    return hex_code(formats::f32, code) + " = " + exact::to_text(value);
}

std::string scale_text(const Quantizer& recipe, const BlockFormat& format,
                       const RecipeAnswer& answer) {
    const exact::BlockScale& scale = answer.block.scale;
    std::string text = paragraph("amax of the block: " + f32_text(scale.amax));
    if (recipe.tensor_scale == TensorScale::history)
        text += paragraph("S of the tensor: 1, for explain knows no earlier tensors");
    else if (recipe.tensor_scale != TensorScale::none)
        text += paragraph("S of the tensor, from its amax " + exact::to_text(answer.tensor.amax) +
                          ": " + f32_text(answer.tensor.scale));
    text += paragraph("ratio: " + f32_text(scale.ratio));
    text += paragraph("scale, as stored: " + hex_code(format.scale(), scale.stored) + " = " +
                      exact::to_text(exact::decode(format.scale(), scale.stored)));
    if (recipe.inverse != Inverse::divided)
        text += paragraph("factor of the lanes: " + f32_text(scale.factor));
    return text;
}

std::string lanes_table(const Quantizer& recipe, const BlockFormat& format,
                        const ElementFormat& input, const RecipeAnswer& answer) {
    TextTable table({{"lane", Align::right},
                     {std::string(input.name)},
                     {"value", Align::right},
                     {"scaled, in f32"},
                     {std::string(format.element().name)},
                     {"value", Align::right},
                     {"on the way back", Align::right}});
    const exact::Value kept = exact::kept_number(recipe, answer.tensor);
    for (std::size_t lane = 0; lane < answer.lanes.size(); ++lane) {
        const exact::Value& value = answer.lanes[lane];
        const Code element = answer.block.elements[lane];
        const Code code = exact::round(input, Rounding::nearest_even, Overflow::overflow, value);
        table.add({std::to_string(lane), hex_code(input, code), exact::to_text(value),
                   f32_text(exact::scaled_lane(recipe, answer.block.scale, value)),
                   hex_code(format.element(), element),
                   exact::to_text(exact::decode(format.element(), element)),
                   exact::to_text(exact::dequantize_f32(recipe, format, kept,
                                                        {answer.block.scale.stored, element}))});
    }
    return table.print();
}

// A recipe can answer if it reads the type and finds whole groups of lanes to rotate.
bool can_answer(const Quantizer& recipe, const ElementFormat& input, std::size_t lanes) {
    return recipe.reads(input.name) &&
           (recipe.transform == LaneTransform::none || lanes % hadamard_size == 0);
}

std::string other_recipes(const BlockFormat& format, const ElementFormat& input,
                          const std::vector<Code>& lanes, std::string& fault) {
    TextTable table({{"dialect"}, {"scale"}, {"elements"}});
    for (const Quantizer* recipe : recipes_of(format)) {
        if (!can_answer(*recipe, input, lanes.size())) continue;
        const RecipeAnswer answer = answer_of(*recipe, format, input, lanes);
        if (fault.empty()) fault = fault_in(*recipe, answer);
        std::string elements;
        for (const Code element : answer.block.elements)
            elements += (elements.empty() ? "" : " ") + hex_code(format.element(), element);
        table.add({std::string(recipe->name), hex_code(format.scale(), answer.block.scale.stored),
                   elements});
    }
    return table.print();
}

Status check_typed(const TypedValues& typed) {
    if (const Status known =
            check_recipe({.format = typed.format, .dialect = typed.dialect, .axis = "row"});
        !known)
        return known;
    if (!find_quantizer(typed.dialect)->reads(typed.input))
        return bad("dialect " + typed.dialect + " does not read " + data::in_quotes(typed.input));
    return success();
}

}  // namespace

Expected<Explanation> explain_recipe(const TypedValues& typed) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    if (const Status fits = check_typed(typed); !fits) return fits.error();
    const Quantizer& recipe = *find_quantizer(typed.dialect);
    const BlockFormat& format = *find_block_format(typed.format);
    const ElementFormat& input = *find_element_format(typed.input);
    const auto values = parse_values(input, typed.values);
    if (!values) return values.error();
    std::vector<Code> lanes;
    for (const ParsedValue& value : values.value()) lanes.push_back(value.code);
    if (!format.is_whole_tensor() &&
        lanes.size() > static_cast<std::size_t>(format.block_rows * format.block_columns))
        return bad("a block of " + typed.format + " has " +
                   std::to_string(format.block_rows * format.block_columns) + " lanes, not " +
                   std::to_string(lanes.size()));
    if (!can_answer(recipe, input, lanes.size()))
        return bad("dialect " + typed.dialect + " rotates groups of 16 lanes, not " +
                   std::to_string(lanes.size()));
    const RecipeAnswer answer = answer_of(recipe, format, input, lanes);
    Explanation result;
    result.fault = fault_in(recipe, answer);
    result.text =
        paragraph("quantize format=" + typed.format + " dialect=" + typed.dialect +
                  " input=" + typed.input + ", " + std::to_string(lanes.size()) +
                  " values as one block and the whole tensor") +
        paragraph(std::string(recipe.name) + ": " + std::string(recipe.title)) +
        paragraph("source: " + std::string(recipe.source)) + heading("The scale") +
        scale_text(recipe, format, answer) +
        heading(recipe.transform == LaneTransform::none ? "The elements" : "The rotated elements") +
        lanes_table(recipe, format, input, answer);
    if (recipe.element_rounding == Rounding::stochastic)
        result.text += paragraph("random bits of every lane: 0x80 of 8");
    if (recipe.open != 0)
        result.text += heading("What the source leaves open") + paragraph(open_text(recipe));
    result.text +=
        heading("Every dialect of the format") + other_recipes(format, input, lanes, result.fault);
    return result;
}

}  // namespace mx::emulate
