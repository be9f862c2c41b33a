// A block whose scale has a mantissa, step by step: see explain_parts.hpp. What is shown comes from
// the exact oracle and is held against the fast one.
#include "conformance/data/tensor_number.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/run/expected.hpp"
#include "reference/base/hex.hpp"
#include "reference/exact/quantize.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/hadamard.hpp"
#include "reference/spec/verification.hpp"

namespace mx::emulate {
namespace {

// The answer of one row to the lanes: exact, and the fast oracle's codes beside it.
struct RowAnswer {
    std::vector<exact::Value> lanes;  // after the transform
    exact::TensorNumbers tensor;
    exact::ScaledBlock block;
    std::vector<Code> fast_codes;  // the scale, then the elements
};

bool has_history(const Quantizer& row) {
    return row.tensor_scale == TensorScale::history;
}

// The problem of the target, asked of another row. Where the target says no amax of the tensor, the
// block is the tensor.
Problem asked_of(const Quantizer& row, const ExplainTarget& target) {
    Problem p = target.c;
    p.dialect = &row;
    const bool is_given = p.tensor_number && has_history(row) == has_history(*target.c.dialect);
    if (!has_tensor_number(p) || is_given) return p;
    CodeTensor lanes = make_tensor(p.type.name, 1, static_cast<std::int64_t>(target.lanes.size()));
    for (std::size_t i = 0; i < target.lanes.size(); ++i) lanes.set(i, target.lanes[i].bits);
    Problem alone = p;
    alone.rows = 1;
    alone.columns = lanes.columns;
    alone.axis = BlockAxis::row;
    alone.block = lanes.columns;
    p.tensor_number = derived_amax(alone, lanes);
    return p;
}

std::uint32_t given_number(const Problem& p) {
    return has_tensor_number(p) ? p.tensor_number.value_or(0) : 0;
}

std::vector<Code> fast_codes_of(const Problem& p, const ExplainTarget& target) {
    std::vector<std::uint32_t> lanes;
    std::vector<fast::Unpacked> before;
    for (const Code lane : target.lanes) {
        lanes.push_back(lane.bits);
        before.push_back(fast::unpack(p.type, lane));
    }
    if (p.dialect->transform == LaneTransform::hadamard16)
        for (int to = 0; to < hadamard_size; ++to)
            lanes[static_cast<std::size_t>(to)] =
                fast::round(p.type, Rounding::nearest_even, Overflow::overflow,
                            fast::rotated_lane(before.data(), to))
                    .bits;
    const fast::BlockQuestion question{*p.dialect, *p.format, p.type,
                                       numbers_of(p, given_number(p))};
    std::vector<std::uint8_t> elements(lanes.size());
    std::vector<Code> codes{fast::quantize(question, lanes.data(), static_cast<int>(lanes.size()),
                                           elements.data(),
                                           target.random.empty() ? nullptr : target.random.data())};
    for (const std::uint8_t element : elements) codes.push_back(Code{element});
    return codes;
}

RowAnswer answer_of(const Quantizer& row, const ExplainTarget& target) {
    const Problem p = asked_of(row, target);
    RowAnswer answer;
    for (const Code lane : target.lanes) answer.lanes.push_back(exact::decode(p.type, lane));
    answer.lanes = exact::transformed(row, answer.lanes);
    const exact::Value given = exact::decode(formats::f32, Code{given_number(p)});
    answer.tensor = exact::tensor_numbers(row, *p.format, given, given);
    answer.block =
        exact::quantize_block({row, *p.format, p.type, answer.tensor}, answer.lanes, target.random);
    answer.fast_codes = fast_codes_of(p, target);
    return answer;
}

std::string fault_in(const Quantizer& row, const RowAnswer& answer) {
    std::vector<Code> codes{answer.block.scale.stored};
    codes.insert(codes.end(), answer.block.elements.begin(), answer.block.elements.end());
    return codes == answer.fast_codes
               ? ""
               : "the fast and the exact oracle differ on dialect " + std::string(row.name);
}

std::string f32_value_text(const exact::Value& value) {
    const Code code = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    return hex_code(formats::f32, code) + " = " + exact::to_text(value);
}

std::string scale_text(const Quantizer& recipe, const BlockFormat& format,
                       const RowAnswer& answer) {
    const exact::BlockScale& scale = answer.block.scale;
    std::string text = paragraph("amax of the block: " + f32_value_text(scale.amax));
    if (recipe.tensor_scale == TensorScale::history)
        text +=
            paragraph("S of the tensor, from earlier ones: " + f32_value_text(answer.tensor.scale));
    else if (recipe.tensor_scale != TensorScale::none)
        text += paragraph("S of the tensor, from its amax " + exact::to_text(answer.tensor.amax) +
                          ": " + f32_value_text(answer.tensor.scale));
    text += paragraph("ratio: " + f32_value_text(scale.ratio));
    text += paragraph("scale, as stored: " + hex_code(format.scale(), scale.stored) + " = " +
                      exact::to_text(exact::decode(format.scale(), scale.stored)));
    if (recipe.inverse == Inverse::divided_by_product)
        text += paragraph("divisor of the lanes: " + f32_value_text(scale.factor));
    else if (!recipe.divides_lanes())
        text += paragraph("factor of the lanes: " + f32_value_text(scale.factor));
    if (recipe.inverse == Inverse::divided_if_finite)
        text += paragraph("an infinite quotient counts as NaN");
    return text;
}

std::string lanes_table(const ExplainTarget& target, const RowAnswer& answer) {
    const Quantizer& recipe = *target.c.dialect;
    const BlockFormat& format = *target.c.format;
    const ElementFormat& input = target.c.type;
    const bool is_rotated = recipe.transform != LaneTransform::none;
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
        const Code code =
            is_rotated ? exact::round(input, Rounding::nearest_even, Overflow::overflow, value)
                       : target.lanes[lane];
        table.add({std::to_string(lane), hex_code(input, code), exact::to_text(value),
                   f32_value_text(exact::scaled_lane(recipe, answer.block.scale, value)),
                   hex_code(format.element(), element),
                   exact::to_text(exact::decode(format.element(), element)),
                   exact::to_text(exact::dequantize_f32(recipe, format, kept,
                                                        {answer.block.scale.stored, element}))});
    }
    return table.print();
}

// A row can answer if it reads the type, takes random bits as the target does or none, and finds
// whole groups of lanes to rotate.
bool can_answer(const Quantizer& row, const ExplainTarget& target) {
    // A scale from earlier tensors is that of the target or of nobody.
    if (has_history(row) && !has_history(*target.c.dialect)) return false;
    const bool is_random = row.element_rounding == Rounding::stochastic;
    return row.reads(target.c.type.name) && (!is_random || !target.random.empty()) &&
           (row.transform == LaneTransform::none || target.lanes.size() % hadamard_size == 0);
}

std::string other_rows(const ExplainTarget& target, std::string& fault) {
    TextTable table({{"dialect"}, {"scale"}, {"elements"}});
    const BlockFormat& format = *target.c.format;
    for (const Quantizer* row : recipes_of(format)) {
        if (!can_answer(*row, target)) continue;
        const RowAnswer answer = answer_of(*row, target);
        if (fault.empty()) fault = fault_in(*row, answer);
        std::string elements;
        for (const Code element : answer.block.elements)
            elements += (elements.empty() ? "" : " ") + hex_code(format.element(), element);
        table.add({std::string(row->name), hex_code(format.scale(), answer.block.scale.stored),
                   elements});
    }
    return table.print();
}

void explain_quantized(const ExplainTarget& target, Explanation& result) {
    const Quantizer& row = *target.c.dialect;
    const RowAnswer answer = answer_of(row, target);
    result.fault = fault_in(row, answer);
    result.text +=
        heading("The scale") + scale_text(row, *target.c.format, answer) +
        heading(row.transform == LaneTransform::none ? "The elements" : "The rotated elements") +
        lanes_table(target, answer);
    for (std::size_t lane = 0; lane < target.random.size(); ++lane)
        result.text +=
            (lane == 0 ? "random bits of each lane: 0x" : " 0x") + hex(target.random[lane].bits, 2);
    if (!target.random.empty()) result.text += "\n";
    if (row.open != 0)
        result.text += heading("What the source leaves open") + paragraph(open_text(row));
    result.text += heading("Every dialect of the format") + other_rows(target, result.fault);
}

void explain_dequantized(const ExplainTarget& target, Explanation& result) {
    const Problem& p = target.c;
    const Quantizer& row = *p.dialect;
    const exact::Value kept = exact::decode(formats::f32, Code{given_number(p)});
    const fast::DequantizeQuestion fast_question{row, *p.format, p.type,
                                                 fast::unpack(formats::f32, Code{given_number(p)})};
    result.text +=
        heading("The scale") +
        paragraph("scale, as stored: " + hex_code(p.format->scale(), target.scale) + " = " +
                  exact::to_text(exact::decode(p.format->scale(), target.scale)));
    if (has_tensor_number(p))
        result.text += paragraph("the number that was kept: " + f32_value_text(kept));
    TextTable table({{"lane", Align::right},
                     {"P", Align::right},
                     {"value, in f32"},
                     {std::string(p.type.name)},
                     {"value", Align::right}});
    for (std::size_t lane = 0; lane < target.lanes.size(); ++lane) {
        const Code code = target.lanes[lane];
        const Code value = exact::dequantize({row, *p.format, p.type, kept}, {target.scale, code});
        if (!(value == fast::dequantize(fast_question, {target.scale, code})))
            result.fault =
                "the fast and the exact oracle differ on dialect " + std::string(row.name);
        table.add(
            {std::to_string(lane), exact::to_text(exact::decode(p.format->element(), code)),
             f32_value_text(exact::dequantize_f32(row, *p.format, kept, {target.scale, code})),
             hex_code(p.type, value), exact::to_text(exact::decode(p.type, value))});
    }
    result.text += heading("The values") + table.print();
}

}  // namespace

Explanation explain_real_scale(const ExplainTarget& target) {
    const Quantizer& row = *target.c.dialect;
    Explanation result;
    result.text = paragraph(target.title) +
                  paragraph(std::string(row.name) + ": " + std::string(row.title)) +
                  paragraph("source: " + std::string(row.source)) +
                  paragraph("known by: " + known_by(row.name));
    if (target.c.operation == OperationKind::quantize)
        explain_quantized(target, result);
    else
        explain_dequantized(target, result);
    return result;
}

}  // namespace mx::emulate
