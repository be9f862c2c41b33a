// The sections about a block's inputs: codes, exact values, the largest magnitude, and what the
// source leaves open about such a block. See explain_parts.hpp.
#include "conformance/emulate/answers.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/run/site.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {

std::string explain_inputs(const ExplainTarget& target) {
    const ElementFormat& format = input_format(target.c);
    TextTable table({{"lane", Align::right},
                     {std::string(format.name)},
                     {"value", Align::right},
                     {"exactly", Align::right}});
    for (std::size_t lane = 0; lane < target.lanes.size(); ++lane) {
        const exact::Value value = exact::decode(format, target.lanes[lane]);
        table.add({std::to_string(lane), hex_code(format, target.lanes[lane]),
                   exact::to_text(value), exact_text(value)});
    }
    LaneNotes notes;
    for (std::size_t lane = 0; lane < target.input_notes.size(); ++lane)
        if (!target.input_notes[lane].empty())
            notes.add(static_cast<int>(lane), target.input_notes[lane]);
    std::string text = table.print() + notes.print();
    if (target.c.operation != OperationKind::dequantize) return text;
    const ElementFormat& scale_format = target.c.format->scale();
    return text + paragraph("scale X: " + hex_code(scale_format, target.scale) + " = " +
                            exact_and_decimal(exact::decode(scale_format, target.scale)));
}

std::string explain_amax(const ExplainTarget& target, const Quantizer& rules) {
    const ElementFormat& format = input_format(target.c);
    const std::vector<exact::Value> values = lane_values(target, rules);
    const exact::Value amax = exact::amax_of(rules, values);
    std::vector<int> holders, nan_lanes, infinite_lanes;
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
        if (values[lane].is_nan()) nan_lanes.push_back(static_cast<int>(lane));
        if (values[lane].is_infinity()) infinite_lanes.push_back(static_cast<int>(lane));
        if (values[lane].kind == amax.kind &&
            (!amax.is_finite() || values[lane].magnitude == amax.magnitude))
            holders.push_back(static_cast<int>(lane));
    }
    std::string text;
    if (!nan_lanes.empty())
        text += paragraph("NaN in " + lanes_text(nan_lanes) + ": " +
                          named_value("nan_in_block", rules));
    if (!infinite_lanes.empty())
        text += paragraph("infinity in " + lanes_text(infinite_lanes) + ": " +
                          named_value("infinity_in_block", rules));
    if (amax.is_nan()) return text + paragraph("amax = nan");
    std::string line = "amax = " + exact_and_decimal(amax);
    if (!holders.empty()) {
        const Code code{target.lanes[static_cast<std::size_t>(holders.front())].bits &
                        format.code_magnitude_mask()};
        line += ", magnitude " + hex_code(format, code) + ", in " + lanes_text(holders);
    }
    return text + paragraph(line);
}

namespace {

// What a single amax makes of the decisions about scales.
std::uint32_t scale_decisions(const BlockFormat& format, const Quantizer& rules,
                              const exact::Value& amax) {
    if (!amax.is_finite()) return 0;
    if (amax.magnitude == 0) return 0u | Decision::zero_block;
    return exact::scale_steps(rules, format, amax).underflowed ? 0u | Decision::scale_underflow
                                                               : 0u;
}

std::uint32_t decisions_met(const ExplainTarget& target, const Quantizer& rules) {
    if (casts_to_scale(target.c)) return 0;
    const BlockFormat& format = *target.c.format;
    const OperationKind operation = target.c.operation;
    const std::vector<exact::Value> values = lane_values(target, rules);
    const bool makes_scales =
        operation == OperationKind::quantize || operation == OperationKind::encode_scale;
    std::uint32_t met = 0;
    for (const exact::Value& value : values) {
        if (makes_scales && value.is_nan()) met = met | Decision::nan_in_block;
        if (makes_scales && value.is_infinity()) met = met | Decision::infinity_in_block;
        if (operation == OperationKind::encode_scale) met |= scale_decisions(format, rules, value);
    }
    if (operation == OperationKind::quantize)
        met |= scale_decisions(format, rules, exact::amax_of(rules, values));
    const exact::Rational largest =
        exact::magnitude_of(formats::f32, formats::f32.code_max_finite());
    for (const Answer& answer : exact_answers(target, rules)) {
        if (answer.lane == lane_of_scale || operation == OperationKind::encode_scale) continue;
        const ElementFormat& output = answer_format(target, answer);
        const std::size_t lane = static_cast<std::size_t>(answer.lane);
        if (output.is_nan(answer.code) && operation != OperationKind::dequantize)
            met = met | Decision::nan_code;
        if (output.is_zero(answer.code) && values[lane].negative)
            met = met | Decision::sign_of_zero;
        if (operation != OperationKind::dequantize) continue;
        const exact::Value exact =
            exact::dequantize_exact(format, target.scale, target.lanes[lane]);
        if (exact.is_finite() && exact.magnitude > largest) met = met | Decision::value_beyond_f32;
    }
    return met;
}

// The fields of the row that hold its choice in a decision.
std::vector<std::string_view> fields_of(Decision decision) {
    switch (decision) {
        case Decision::nan_in_block:
            return {"nan_in_block", "scale_nan"};
        case Decision::infinity_in_block:
            return {"infinity_in_block", "scale_infinity"};
        case Decision::zero_block:
            return {"zero_block", "scale_zero"};
        case Decision::scale_underflow:
            return {"scale_underflow"};
        case Decision::sign_of_zero:
            return {"sign_of_zero"};
        case Decision::nan_code:
            return {"nan_code"};
        case Decision::value_beyond_f32:
        // Of rows whose scales have a mantissa, which explain_real_scale.cpp shows.
        case Decision::transform_order:
        case Decision::random_bits:
        case Decision::scale_precision:
        case Decision::scale_range:
            return {};
    }
    return {};
}

std::string choice_of(Decision decision, const Quantizer& rules) {
    std::string text;
    for (const std::string_view field : fields_of(decision))
        text += (text.empty() ? " (chosen: " : ", ") + named_value(field, rules);
    return text + (text.empty() ? "" : ")");
}

}  // namespace

std::string open_decisions(const ExplainTarget& target, const Quantizer& rules) {
    const std::uint32_t met = decisions_met(target, rules) & rules.open;
    if (met == 0) return "";
    std::string line;
    for (const auto& [name, text, decision] : decisions)
        if ((met & static_cast<std::uint32_t>(decision)) != 0)
            line += (line.empty() ? "" : ", ") + std::string(name) + choice_of(decision, rules);
    return paragraph(line + ": a device that chose otherwise deviates, it does not fail");
}

}  // namespace mx::emulate
