// The sections about the shared scale: the rule in words, its argument as a fraction, exponent,
// clamp and byte. The byte is derived here once more, and held against the oracle's. See
// explain_parts.hpp.
#include "conformance/case/rules.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"

namespace mx::emulate {
namespace {

using exact::Value;

// How an argument became a byte, in words and as the byte itself.
struct Derivation {
    std::string exponent = "-";  // unclamped
    std::string bounds;          // "2^-7 <= argument < 2^-6, rounded down"
    std::string outcome;         // the clamp, or the field that decides a special argument
    Code byte;
};

std::string power_text(int exponent) { return "2^" + std::to_string(exponent); }

Value largest_element(const BlockFormat& format) {
    return exact::decode(format.element(), Code{format.element().code_max_finite()});
}

Code reciprocal_of_largest(const BlockFormat& format) {
    return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                        positive(1 / largest_element(format).magnitude));
}

Code byte_of_overflow(const BlockFormat& format, const Dialect& rules) {
    return Code{rules.scale_overflow == ScaleOverflow::nan ? format.scale().code_nan()
                                                           : format.scale().code_max_finite()};
}

std::string overflow_text(const Dialect& rules) {
    return std::string("scale_overflow = ") +
           (rules.scale_overflow == ScaleOverflow::nan ? "nan" : "saturate");
}

Derivation special_argument(const BlockFormat& format, const Dialect& rules,
                            const exact::ScaleSteps& steps) {
    Derivation derived;
    if (steps.argument.is_nan()) {
        derived.outcome = "amax is NaN, so the scale is NaN";
        derived.byte = Code{format.scale().code_nan()};
    } else if (steps.argument.is_infinity()) {
        derived.outcome = "the argument is infinite: " + overflow_text(rules);
        derived.byte = byte_of_overflow(format, rules);
    } else {
        derived.outcome = steps.amax.magnitude == 0
                              ? "amax is zero: zero_block = scale_min"
                              : "the argument rounded to zero: scale_underflow = clamp";
        derived.byte = Code{0};
    }
    return derived;
}

// A positive argument, rounded to a power of two the way the rule says.
Derivation finite_argument(const BlockFormat& format, const Dialect& rules,
                           const exact::ScaleSteps& steps) {
    const exact::Rational& argument = steps.argument.magnitude;
    const bool rounds_up = steps.rounding == Rounding::toward_positive;
    const int floor = exact::floor_log2(argument);
    const bool is_power = argument == exact::power_of_two(floor);
    const int exponent = floor + (rounds_up && !is_power ? 1 : 0);
    const ElementFormat& scale = format.scale();
    Derivation derived;
    derived.exponent = std::to_string(exponent);
    derived.bounds = is_power ? "argument = " + power_text(floor) + ", a power of two"
                              : power_text(floor) + " < argument < " + power_text(floor + 1) +
                                    (rounds_up ? ", rounded up" : ", rounded down");
    if (exponent > scale.exponent_max()) {
        derived.outcome = "above " + std::to_string(scale.exponent_max()) + ": " +
                          overflow_text(rules);
        derived.byte = byte_of_overflow(format, rules);
        return derived;
    }
    const int clamped = std::max(exponent, scale.exponent_min());
    if (clamped != exponent)
        derived.outcome = "below " + std::to_string(clamped) + ": scale_underflow = clamp, to " +
                          std::to_string(clamped);
    derived.byte = Code{static_cast<std::uint32_t>(clamped + scale.exponent_bias)};
    return derived;
}

Derivation derive(const BlockFormat& format, const Dialect& rules, const exact::ScaleSteps& steps,
                  std::string& fault) {
    const bool is_special = !steps.argument.is_finite() || steps.argument.magnitude == 0;
    Derivation derived = is_special ? special_argument(format, rules, steps)
                                    : finite_argument(format, rules, steps);
    if (!(derived.byte == steps.code) && fault.empty())
        fault = "the scale of amax " + exact::to_text(steps.amax) + ": the steps lead to " +
                hex_code(format.scale(), derived.byte) + ", the exact oracle says " +
                hex_code(format.scale(), steps.code);
    return derived;
}

std::string rule_text(const BlockFormat& format, const Dialect& rules) {
    const ElementFormat& element = format.element();
    const std::string largest = exact::to_text(largest_element(format));
    const std::string less_emax = " - emax, emax = " + std::to_string(element.exponent_max()) +
                                  ", the exponent of the largest element " + largest;
    const std::string opening =
        "scale_rule = " + std::string(name_of(rules.scale_rule)) + ": exponent = ";
    switch (rules.scale_rule) {
        case ScaleRule::floor_amax:
            return paragraph(opening + "floor(log2(amax))" + less_emax);
        case ScaleRule::ceil_amax:
            return paragraph(opening + "ceil(log2(amax))" + less_emax);
        case ScaleRule::even_amax:
            return paragraph(opening + "floor(log2(amax rounded to " +
                             std::to_string(element.mantissa_bits) +
                             " mantissa bits, ties away))" + less_emax);
        case ScaleRule::round_up_ratio: {
            const Code code = reciprocal_of_largest(format);
            return paragraph(opening + "ceil(log2(fl32(amax * fl32(1 / " + largest +
                             ")))), fl32 = nearest even in binary32") +
                   paragraph("constant: fl32(1 / " + largest + ") = " +
                             hex_code(formats::f32, code) + " = " +
                             exact_and_decimal(exact::decode(formats::f32, code)));
        }
    }
    return "";
}

struct Step {
    const exact::Rational& from;
    const exact::Rational& to;
};

std::string direction(const Step& step) {
    if (step.from == step.to) return "exact";
    return step.from < step.to ? "rounded up" : "rounded down";
}

// From amax to the argument of the rule.
std::string argument_text(const BlockFormat& format, const Dialect& rules,
                          const exact::ScaleSteps& steps) {
    const int emax = format.element().exponent_max();
    const std::string divided = "argument: amax / " + power_text(emax) + " = " +
                                exact_and_decimal(steps.argument);
    if (!steps.amax.is_finite()) return "";
    if (rules.scale_rule == ScaleRule::even_amax) {
        Value rounded = steps.argument;
        rounded.magnitude *= exact::power_of_two(emax);
        const std::string how = rounded.is_finite()
                                    ? direction({steps.amax.magnitude, rounded.magnitude})
                                    : std::string("beyond binary32");
        return paragraph("rounded amax: " + exact_and_decimal(rounded) + " (" + how + ")") +
               paragraph("argument: rounded " + divided.substr(10));
    }
    if (rules.scale_rule != ScaleRule::round_up_ratio) return paragraph(divided);
    const Value factor = exact::decode(formats::f32, reciprocal_of_largest(format));
    const Value product = positive(steps.amax.magnitude * factor.magnitude);
    const Code rounded =
        exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, product);
    return paragraph("product: amax * constant = " + exact_and_decimal(product)) +
           paragraph("argument: fl32(product) = " + hex_code(formats::f32, rounded) + " = " +
                     exact_and_decimal(steps.argument) + " (" +
                     direction({product.magnitude, steps.argument.magnitude}) + ")");
}

}  // namespace

std::string explain_scale(const BlockFormat& format, const Dialect& rules,
                          const exact::Value& amax, std::string& fault) {
    const exact::ScaleSteps steps = exact::scale_steps(rules, format, amax);
    const Derivation derived = derive(format, rules, steps, fault);
    const ElementFormat& scale = format.scale();
    std::string text = rule_text(format, rules) + argument_text(format, rules, steps);
    if (!derived.bounds.empty())
        text += paragraph("exponent: " + derived.bounds + ": " + derived.exponent);
    if (!derived.outcome.empty())
        text += paragraph((derived.bounds.empty() ? "decision: " : "clamp: ") + derived.outcome);
    else
        text += paragraph("clamp: none, " + std::to_string(scale.exponent_min()) +
                          " <= " + derived.exponent +
                          " <= " + std::to_string(scale.exponent_max()));
    std::string byte = hex_code(scale, steps.code);
    if (!scale.is_nan(steps.code))
        byte += " = " + std::to_string(steps.code.bits) + " = " +
                std::to_string(static_cast<int>(steps.code.bits) - scale.exponent_bias) + " + " +
                std::to_string(scale.exponent_bias);
    text += paragraph("byte: " + byte);
    const Value factor = exact::decode(scale, steps.code);
    if (factor.is_nan()) return text + paragraph("X = nan");
    const int exponent = exact::floor_log2(factor.magnitude);
    const std::string power = power_text(exponent), value = exact_and_decimal(factor);
    return text + paragraph("X = " + power + (value.starts_with(power) ? value.substr(power.size())
                                                                       : " = " + value));
}

std::string explain_scales(const ExplainTarget& target, const Dialect& rules,
                           std::string& fault) {
    const BlockFormat& format = block_format_of(target.c);
    TextTable table({{"lane", Align::right}, {"amax", Align::right}, {"argument", Align::right},
                     {"exponent", Align::right}, {"byte"}, {"X", Align::right}});
    LaneNotes notes;
    int lane = 0;
    for (const Value& amax : lane_values(target)) {
        const exact::ScaleSteps steps = exact::scale_steps(rules, format, amax);
        const Derivation derived = derive(format, rules, steps, fault);
        const Value factor = exact::decode(format.scale(), steps.code);
        table.add({std::to_string(lane), exact::to_text(amax), exact_text(steps.argument),
                   derived.exponent, hex_code(format.scale(), steps.code),
                   factor.is_nan() ? "nan" : power_text(exact::floor_log2(factor.magnitude))});
        if (!derived.outcome.empty()) notes.add(lane, derived.outcome);
        ++lane;
    }
    return rule_text(format, rules) + table.print() + notes.print();
}

}  // namespace mx::emulate
