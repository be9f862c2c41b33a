// The sections about single elements: their rounding between two neighbours, and the way back. See
// explain_parts.hpp.
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/run/site.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

using exact::Position;
using exact::Value;

std::string code_and_value(const ElementFormat& format, Code code) {
    return hex_code(format, code) + " " + exact_text(exact::decode(format, code));
}

// A rounding with its neighbours as text.
struct Neighbours {
    std::string below = "-", above = "-", position = "-", chosen = "-";
};

Neighbours neighbours_of(const ElementFormat& format, const Value& value,
                         const exact::Rounded& rounded) {
    Neighbours text;
    if (!value.is_finite() || rounded.underflowed) return text;
    const auto signed_code = [&](std::uint32_t magnitude) {
        return value.negative ? format.negative(magnitude) : format.positive(magnitude);
    };
    const bool has_above = rounded.code_below < (value.negative ? format.code_max_finite_negative()
                                                                : format.code_max_finite());
    text.below = code_and_value(format, signed_code(rounded.code_below));
    text.position = "exact";
    if (rounded.position == Position::exact) return text;
    text.above = has_above ? code_and_value(format, signed_code(rounded.code_below + 1))
                           : "no code " + exact::to_text({Value::Kind::finite, value.negative,
                                                          rounded.value_above});
    if (rounded.position == Position::below_half) text.position = "below half";
    if (rounded.position == Position::half) text.position = "HALF WAY";
    if (rounded.position == Position::above_half) text.position = "above half";
    if (value.magnitude >= rounded.value_above) text.position = "beyond";
    const bool is_away = format.magnitude(rounded.code) != rounded.code_below;
    text.chosen = rounded.overflowed ? "overflow" : is_away ? "above" : "below";
    return text;
}

std::string largest_text(const ElementFormat& format) {
    return exact::to_text(exact::decode(format, Code{format.code_max_finite()}));
}

// What a reader should know about a lane beyond its row; "" if nothing.
std::string note_of(const ElementFormat& format, const Quantizer& rules, const Value& value,
                    const exact::Rounded& rounded, Code code) {
    if (value.is_nan()) return "NaN: " + named_value("nan_code", rules);
    if (rounded.overflowed)
        return (value.is_infinity() ? "infinite"
                                    : "beyond the largest finite value " + largest_text(format)) +
               ": " + named_value("element_overflow", rules);
    const std::string sign =
        value.negative && format.is_zero(code) ? "; " + named_value("sign_of_zero", rules) : "";
    if (value.magnitude == 0) return sign.empty() ? "" : "minus zero" + sign;
    if (format.is_zero(code)) return "rounds to zero" + sign;
    if (rounded.position == Position::half)
        return "a tie: " + named_value("element_rounding", rules);
    if (format.is_subnormal(code)) return "a subnormal element";
    return "";
}

}  // namespace

std::string explain_elements(const ExplainTarget& target, const Quantizer& rules,
                             const Code* scale) {
    const BlockFormat& format = *target.c.format;
    const ElementFormat& element = format.element();
    TextTable ratios({{"lane", Align::right},
                      {"V", Align::right},
                      {"V / X", Align::right},
                      {"decimal", Align::right}});
    std::vector<Column> columns{{"lane", Align::right}, {"below"},  {"above"},
                                {"position"},           {"chosen"}, {"code"},
                                {"P", Align::right}};
    if (scale != nullptr) columns.push_back({"P * X", Align::right});
    TextTable table(columns);
    LaneNotes notes;
    int lane = 0;
    for (const Value& input : lane_values(target, rules)) {
        const RandomBits random = random_of(target, static_cast<std::size_t>(lane));
        const Value value = scale == nullptr ? input : exact::scaled(rules, format, *scale, input);
        const exact::Rounded rounded = exact::round_with_reasons(
            element, rules.element_rounding, rules.element_overflow, value, random);
        const Code code = exact::round_element(rules, element, value, random);
        const Neighbours text = neighbours_of(element, value, rounded);
        ratios.add(
            {std::to_string(lane), exact_text(input), exact_text(value), exact::to_text(value)});
        std::vector<std::string> row{std::to_string(lane),
                                     text.below,
                                     text.above,
                                     text.position,
                                     text.chosen,
                                     hex_code(element, code),
                                     exact::to_text(exact::decode(element, code))};
        if (scale != nullptr)
            row.push_back(exact::to_text(exact::dequantize_exact(format, *scale, code)));
        table.add(std::move(row));
        std::string note = note_of(element, rules, value, rounded, code);
        if (value.is_nan() && !input.is_nan())
            note = (scale->bits == 0 ? named_value("inverse", rules) + ", times infinity; "
                                     : "the scale is NaN (OCP MX 5.1); ") +
                   note;
        if (!note.empty()) notes.add(lane, note);
        ++lane;
    }
    const bool is_changed = scale != nullptr && rules.quotient != Quotient::exact;
    const std::string modes = paragraph(
        (is_changed ? "V / X is shown after " + named_value("quotient", rules) + "; " : "") +
        named_value("element_rounding", rules) + ", " + named_value("element_overflow", rules));
    return (scale != nullptr ? ratios.print() + "\n" : "") + modes + table.print() + notes.print();
}

std::string explain_values(const ExplainTarget& target) {
    const BlockFormat& format = *target.c.format;
    const ElementFormat& output = target.c.type;
    TextTable table({{"lane", Align::right},
                     {"P", Align::right},
                     {"X * P", Align::right},
                     {"decimal", Align::right},
                     {"position"},
                     {std::string(output.name)},
                     {"value", Align::right}});
    LaneNotes notes;
    int lane = 0;
    for (const Code code : target.lanes) {
        const Value product = exact::dequantize_exact(format, target.scale, code);
        const exact::Rounded rounded =
            exact::round_with_reasons(output, Rounding::nearest_even, Overflow::overflow, product);
        table.add({std::to_string(lane), exact::to_text(exact::decode(format.element(), code)),
                   exact_text(product), exact::to_text(product),
                   neighbours_of(output, product, rounded).position, hex_code(output, rounded.code),
                   exact::to_text(exact::decode(output, rounded.code))});
        if (rounded.overflowed && product.is_finite())
            notes.add(lane, "beyond the largest " + std::string(output.name) + ": infinity");
        if (output.is_zero(rounded.code) && product.is_finite() && product.magnitude > 0)
            notes.add(lane, "rounds to zero");
        if (product.is_nan()) notes.add(lane, "NaN: any NaN of the output type is right");
        ++lane;
    }
    return paragraph("nearest even; beyond the largest value infinity") + table.print() +
           notes.print();
}

}  // namespace mx::emulate
