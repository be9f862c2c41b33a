// See explain.hpp.
#include "conformance/emulate/explain.hpp"

#include "conformance/emulate/explain_parts.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/verification.hpp"

namespace mx::emulate {
namespace {

std::string explain_block(const ExplainTarget& target, const Quantizer& rules) {
    const exact::Value amax = exact::amax_of(rules, lane_values(target, rules));
    const BlockFormat& format = *target.c.format;
    const Code scale = exact::encode_scale(rules, format, amax);
    return heading("The largest magnitude") + explain_amax(target, rules) + heading("The scale X") +
           explain_scale(format, rules, amax) +
           heading("The elements P: V / X, rounded to " + std::string(format.element().name)) +
           explain_elements(target, rules, &scale);
}

std::string explain_steps(const ExplainTarget& target, const Quantizer& rules) {
    const OperationKind operation = target.c.operation;
    if (operation == OperationKind::quantize) return explain_block(target, rules);
    if (operation == OperationKind::encode_scale)
        return heading("The scales") + explain_scales(target, rules);
    if (operation == OperationKind::dequantize)
        return heading("The values: X * P, rounded to " + type_name(target.c)) +
               explain_values(target);
    if (casts_to_scale(target.c)) return heading("The scales") + explain_casts(target, rules);
    return heading("The elements, rounded to " + format_name(target.c)) +
           explain_elements(target, rules, nullptr);
}

std::string source_text(const Case& c) {
    if (c.format != nullptr && has_no_blocks(*c.format))
        return paragraph("source: " + std::string(c.format->source));
    return paragraph("source: " + std::string(c.dialect->source)) +
           paragraph("known by: " + known_by(c.dialect->name));
}

}  // namespace

Explanation explain(const ExplainTarget& target, Oracle other) {
    Explanation result;
    if (const Status sound = oracle_status(); !sound) {
        result.fault = sound.error().message;
        return result;
    }
    if (has_blocks(target.c) && !target.c.format->has_e8m0_scales())
        return explain_real_scale(target);
    const Quantizer rules = rules_of(target.c);
    result.fault = disagreement_in({exact_answers(target, rules), other(target, rules)});
    result.text = paragraph(target.title) +
                  paragraph(std::string(rules.name) + ": " + std::string(rules.title)) +
                  source_text(target.c) + heading("The input") + explain_inputs(target) +
                  explain_steps(target, rules);
    const std::string open = open_decisions(target, rules);
    if (!open.empty()) result.text += heading("What the source leaves open") + open;
    result.text += heading("Every dialect") + compare_dialects(target, other, result.fault);
    return result;
}

}  // namespace mx::emulate
