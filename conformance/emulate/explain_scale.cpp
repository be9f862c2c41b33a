// The sections about the shared scale: the amax, what the dialect makes of it, the ratio as a
// fraction, and the cast to a byte. Every step names the field of the row that decides it. See
// explain_parts.hpp.
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/explain_parts.hpp"
#include "conformance/emulate/number_text.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

using exact::Value;

std::string power_text(int exponent) {
    return "2^" + std::to_string(exponent);
}

Value largest_element(const BlockFormat& format) {
    return exact::decode(format.element(), Code{format.element().code_max_finite()});
}

std::string f32_text(const Value& value) {
    const Code code = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    return hex_code(formats::f32, code) + " = " + exact_and_decimal(value);
}

struct Step {
    const Value& from;
    const Value& to;
};

std::string direction(const Step& step) {
    if (!step.to.is_finite()) return "beyond binary32";
    if (step.from.magnitude == step.to.magnitude) return "exact";
    return step.from.magnitude < step.to.magnitude ? "rounded up" : "rounded down";
}

// What stands in the place of the amax; "" where it is the amax itself.
std::string shortened_text(const Quantizer& rules, const exact::ScaleSteps& steps) {
    std::string text;
    const bool is_zero = steps.amax.is_finite() && steps.amax.magnitude == 0;
    if (is_zero) text += paragraph("amax is zero: " + named_value("zero_block", rules));
    if (steps.amax.is_infinity() && steps.shortened.is_finite())
        text += paragraph("amax is infinite: " + named_value("infinity_in_block", rules));
    if (!steps.amax.is_finite()) return text;
    if (rules.amax_rounding != AmaxRounding::none)
        text += paragraph(named_value("amax_rounding", rules) + ": " +
                          exact_and_decimal(steps.shortened) + " (" +
                          direction({steps.amax, steps.shortened}) + ")");
    else if (steps.shortened.magnitude != steps.amax.magnitude)
        text += paragraph("raised to " + exact_and_decimal(steps.shortened) +
                          (is_zero ? "" : ": " + named_value("amax_min", rules)));
    return text;
}

// The constant that the amax is multiplied by, and the product before it is rounded.
std::string product_text(const BlockFormat& format, const exact::ScaleSteps& steps) {
    const Value largest = largest_element(format);
    const Code code = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                   positive(1 / largest.magnitude));
    const Value factor = exact::decode(formats::f32, code);
    return paragraph("constant: fl32(1 / " + exact::to_text(largest) + ") = " + f32_text(factor)) +
           paragraph("product: amax * constant = " +
                     exact_and_decimal(positive(steps.shortened.magnitude * factor.magnitude)));
}

// The ratio in words: "fl32(amax / 448)".
std::string ratio_words(const BlockFormat& format, const Quantizer& rules) {
    const std::string largest = exact::to_text(largest_element(format));
    const std::string over_emax = "amax / " + power_text(format.element().exponent_max());
    switch (rules.scale_ratio) {
        case ScaleRatio::over_emax:
            return over_emax;
        case ScaleRatio::over_emax_f32:
            return "fl32(" + over_emax + ")";
        case ScaleRatio::times_reciprocal:
            return "fl32(amax * fl32(1 / " + largest + "))";
        case ScaleRatio::times_reciprocal_flushed:
            return "fl32(amax * fl32(1 / " + largest + ")), flushed,";
        case ScaleRatio::divided:
            return "fl32(amax / " + largest + ")";
        case ScaleRatio::none:
            return "amax";
        case ScaleRatio::times_reciprocal_over_tensor:
        case ScaleRatio::divided_over_tensor:
        case ScaleRatio::over_tensor_divided:
        case ScaleRatio::divided_times_tensor:
        case ScaleRatio::times_scaled_tensor:
        case ScaleRatio::max_over_amax:
        case ScaleRatio::tensor:
            break;
    }
    return "";
}

std::string argument_text(const BlockFormat& format, const Quantizer& rules,
                          const exact::ScaleSteps& steps) {
    if (!steps.amax.is_finite() && !steps.shortened.is_finite()) return "";
    std::string text;
    const bool is_product = rules.scale_ratio == ScaleRatio::times_reciprocal ||
                            rules.scale_ratio == ScaleRatio::times_reciprocal_flushed;
    if (is_product && steps.shortened.is_finite()) text += product_text(format, steps);
    const bool is_exact =
        rules.scale_ratio == ScaleRatio::over_emax || rules.scale_ratio == ScaleRatio::none;
    text += paragraph("argument: " + ratio_words(format, rules) + " = " +
                      (is_exact ? exact_and_decimal(steps.argument) : f32_text(steps.argument)));
    const Value least = exact::decode(formats::f32, Code{rules.ratio_min});
    if (least.magnitude != 0 && steps.argument.magnitude == least.magnitude)
        text += paragraph("the least there may be: " + named_value("ratio_min", rules));
    return text;
}

// Between which powers the argument lies, and which of them is taken.
std::string rounding_text(const Quantizer& rules, const exact::ScaleSteps& steps) {
    const exact::Rational& argument = steps.argument.magnitude;
    const int below = exact::floor_log2(argument);
    if (argument == exact::power_of_two(below))
        return "argument = " + power_text(below) + ", a power of two";
    const std::string bounds = power_text(below) + " < argument < " + power_text(below + 1) + ", ";
    const int chosen = steps.byte - formats::e8m0.exponent_bias;
    const char* way = chosen > below ? "rounded up: " : "rounded down: ";
    return bounds + (below < formats::e8m0.exponent_min() ? "" : way) +
           named_value("scale_rounding", rules);
}

// An argument that is cast, and what became of it.
struct Cast {
    Value argument;
    int byte = 0;  // before the limits of the dialect
    Code code;
};

// The field that a special argument or a limit of the byte hangs on; "" where none does.
std::string decision_text(const Quantizer& rules, const Cast& cast) {
    const Value& argument = cast.argument;
    if (argument.is_nan()) return "the argument is NaN: " + named_value("scale_nan", rules);
    if (argument.is_infinity())
        return "the argument is infinite: " + named_value("scale_infinity", rules);
    if (argument.magnitude == 0) return "the argument is zero: " + named_value("scale_zero", rules);
    if (cast.byte > rules.scale_cast.byte_max)
        return "above " + named_value("scale_byte_max", rules) + ": " +
               named_value("scale_overflow", rules);
    if (cast.code.bits != static_cast<std::uint32_t>(cast.byte))
        return "below " + named_value("scale_byte_min", rules);
    const bool is_subnormal = argument.magnitude < exact::power_of_two(-126);
    const bool is_exact = argument.magnitude == exact::power_of_two(-127);
    if (!is_subnormal || (is_exact && cast.byte == 0)) return "";
    return "below 2^-126: " + named_value("scale_underflow", rules);
}

Cast cast_of(const exact::ScaleSteps& steps) {
    return {steps.argument, steps.byte, steps.code};
}

std::string byte_text(const ElementFormat& scale, Code code) {
    std::string text = hex_code(scale, code);
    if (scale.is_nan(code)) return text;
    const int exponent = static_cast<int>(code.bits) - scale.exponent_bias;
    return text + " = " + std::to_string(code.bits) + " = " + std::to_string(exponent) + " + " +
           std::to_string(scale.exponent_bias);
}

}  // namespace

std::string explain_scale(const BlockFormat& format, const Quantizer& rules,
                          const exact::Value& amax) {
    const exact::ScaleSteps steps = exact::scale_steps(rules, format, amax);
    const ElementFormat& scale = format.scale();
    std::string text = shortened_text(rules, steps) + argument_text(format, rules, steps);
    if (steps.argument.is_finite() && steps.argument.magnitude != 0)
        text += paragraph("cast: " + rounding_text(rules, steps));
    if (const std::string decision = decision_text(rules, cast_of(steps)); !decision.empty())
        text += paragraph("decision: " + decision);
    text += paragraph("byte: " + byte_text(scale, steps.code));
    const Value factor = exact::decode(scale, steps.code);
    if (factor.is_nan()) return text + paragraph("X = nan");
    const std::string power = power_text(exact::floor_log2(factor.magnitude));
    const std::string value = exact_and_decimal(factor);
    text += paragraph("X = " + power +
                      (value.starts_with(power) ? value.substr(power.size()) : " = " + value));
    const bool is_at_an_end = steps.code.bits == 0 || steps.code.bits >= scale.code_max_finite();
    if (is_at_an_end && rules.inverse != Inverse::exact_power)
        text += paragraph("elements under this byte: " + named_value("inverse", rules));
    return text;
}

std::string explain_scales(const ExplainTarget& target, const Quantizer& rules) {
    const BlockFormat& format = *target.c.format;
    TextTable table({{"lane", Align::right},
                     {"amax", Align::right},
                     {"argument", Align::right},
                     {"byte"},
                     {"X", Align::right}});
    LaneNotes notes;
    int lane = 0;
    for (const Value& amax : lane_values(target, rules)) {
        const exact::ScaleSteps steps = exact::scale_steps(rules, format, amax);
        const Value factor = exact::decode(format.scale(), steps.code);
        table.add({std::to_string(lane), exact::to_text(amax), exact_text(steps.argument),
                   hex_code(format.scale(), steps.code),
                   factor.is_nan() ? "nan" : power_text(exact::floor_log2(factor.magnitude))});
        const std::string decision = amax.is_infinity() && steps.argument.is_finite()
                                         ? named_value("infinity_in_block", rules)
                                         : decision_text(rules, cast_of(steps));
        if (!decision.empty()) notes.add(lane, decision);
        ++lane;
    }
    return paragraph("argument: " + ratio_words(format, rules) + "; " +
                     named_value("scale_rounding", rules)) +
           table.print() + notes.print();
}

std::string explain_casts(const ExplainTarget& target, const Quantizer& rules) {
    TextTable table({{"lane", Align::right},
                     {"value", Align::right},
                     {"exactly", Align::right},
                     {"byte"},
                     {"X", Align::right}});
    LaneNotes notes;
    int lane = 0;
    for (const Value& value : lane_values(target, rules)) {
        const Code code = exact::cast_to_scale(rules.scale_cast, value);
        const Value factor = exact::decode(formats::e8m0, code);
        table.add({std::to_string(lane), exact::to_text(value), exact_text(value),
                   hex_code(formats::e8m0, code),
                   factor.is_nan() ? "nan" : power_text(exact::floor_log2(factor.magnitude))});
        const bool is_negative =
            value.negative && !value.is_nan() && (value.is_infinity() || value.magnitude != 0);
        if (is_negative) notes.add(lane, "negative: " + named_value("scale_negative", rules));
        if (!value.is_finite() || value.magnitude == 0)
            notes.add(lane, decision_text(rules, {value, 0, code}));
        ++lane;
    }
    return paragraph(named_value("scale_rounding", rules) + ", " +
                     named_value("scale_underflow", rules) + ", " +
                     named_value("scale_overflow", rules)) +
           table.print() + notes.print();
}

}  // namespace mx::emulate
