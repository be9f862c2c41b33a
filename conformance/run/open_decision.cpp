// What a dialect's source leaves open, and whether a difference hangs on that. See site.hpp.
#include "conformance/run/rotated_block.hpp"
#include "reference/fast/quantize.hpp"

namespace mx {
namespace {

bool scale_underflows(const Case& c, const Site& site) {
    const exact::Value value = exact_amax(c, site);
    if (!casts_to_scale(c)) return exact::scale_steps(rules_of(c), *c.format, value).underflowed;
    return value.is_finite() && value.magnitude < exact::power_of_two(-127);
}

// Of a scale with a mantissa.
std::uint32_t real_scale_decisions(const Case& c, const Site& site) {
    std::uint32_t found = 0;
    if (site.actual_scale == site.expected_scale) return found;
    const fast::Unpacked scale = fast::unpack(c.format->scale(), site.expected_scale);
    if (fast::is_zero(site.amax)) found = found | Decision::zero_block;
    const bool is_at_end = scale.kind != fast::Kind::finite || fast::is_zero(scale);
    return found | (is_at_end ? Decision::scale_range : Decision::scale_precision);
}

// The open decisions that a whole block hangs on.
std::uint32_t block_decisions(const Case& c, const Site& site, const Difference& d) {
    const ElementFormat& input = input_format(c);
    const bool has_lanes = c.operation == OperationKind::quantize;
    std::uint32_t found = 0;
    for (const Code code : has_lanes ? site.lanes : std::vector<Code>{site.input}) {
        if (input.is_nan(code)) found = found | Decision::nan_in_block;
        if (input.is_infinity(code)) found = found | Decision::infinity_in_block;
    }
    if (has_lanes && !c.format->has_e8m0_scales()) return found | real_scale_decisions(c, site);
    const std::uint32_t expected_scale = has_lanes ? site.expected_scale.bits : d.expected;
    if (found != 0 || expected_scale != 0) return found;
    // An element under the scale that the dialect chose follows from it: nothing is open there.
    if (!site.is_scale && site.actual_scale == site.expected_scale) return found;
    const bool is_zero = has_lanes ? site.amax.significand == 0 : input.is_zero(site.input);
    if (is_zero) return 0u | Decision::zero_block;
    return scale_underflows(c, site) ? 0u | Decision::scale_underflow : 0u;
}

// The element under a stored scale.
Code element_of(const Case& c, const Site& site, Code stored) {
    const Quantizer rules = rules_of(c);
    const fast::Unpacked lane = fast::read_input(rules.subnormals, c.type, site.input);
    if (c.format->has_e8m0_scales()) return fast::quantize_element(rules, *c.format, stored, lane);
    const fast::TensorNumbers tensor = has_tensor_number(c)
                                           ? numbers_for_fast(site.tensor)
                                           : fast::TensorNumbers{fast::whole(0), fast::whole(1)};
    return element_under({rules, *c.format, c.type, tensor}, stored, lane, site.random);
}

// Does the element follow from the scale that the device chose, where that choice was open? Then it
// is part of the same decision. Under a NaN scale no element means anything (OCP MX 5.1); a NaN or
// Inf lane has no scaled value to follow from.
bool follows_own_scale(const Case& c, const Site& site, const Difference& d) {
    const BlockFormat& format = *c.format;
    const ElementFormat& input = input_format(c);
    if (format.scale().is_nan(site.actual_scale)) return true;
    if (input.is_nan(site.input) || input.is_infinity(site.input)) return true;
    const Code own = element_of(c, site, site.actual_scale);
    const bool zero_lost_its_sign = format.element().is_zero(own) && d.actual == 0;
    return own.bits == d.actual || zero_lost_its_sign;
}

// No reading of the text makes a block of finite values NaN.
bool makes_numbers_nan(const Case& c, const Site& site, const Difference& d,
                       std::uint32_t decisions_found) {
    const std::uint32_t of_finite_blocks = Decision::zero_block | Decision::scale_underflow;
    const Code scale = site.has_scale ? site.actual_scale : Code{d.actual};
    const ElementFormat& type = c.format == nullptr ? formats::e8m0 : c.format->scale();
    return (decisions_found & of_finite_blocks) != 0 && type.is_nan(scale);
}

// What the scale of the whole block hangs on, if the difference hangs on that.
std::uint32_t scale_decisions(const Case& c, const Site& site, const Difference& d) {
    if (c.dialect->transform != LaneTransform::none) return rotated_decisions(c, site, d);
    const std::uint32_t found = block_decisions(c, site, d);
    if (makes_numbers_nan(c, site, d, found)) return 0;
    return site.is_scale || follows_own_scale(c, site, d) ? found : 0;
}

// Is the element what a NaN became? In a format without NaN that may be any code.
bool stands_for_nan(const Case& c, const Site& site) {
    return input_format(c).is_nan(site.input) ||
           (site.has_scale && c.format->scale().is_nan(site.expected_scale));
}

std::uint32_t lane_decisions(const Case& c, const Site& site, const Difference& d) {
    const ElementFormat& output = output_format(c, d.output);
    const Code expected{d.expected}, actual{d.actual};
    // A zero may lose its sign; it cannot gain one.
    if (output.is_zero(expected) && d.actual == 0) return 0u | Decision::sign_of_zero;
    if (output.is_nan(expected) && output.is_nan(actual)) return 0u | Decision::nan_code;
    if (!output.has_nan() && stands_for_nan(c, site)) return 0u | Decision::nan_code;
    if (c.operation != OperationKind::dequantize || d.expected == d.actual) return 0;
    // A value beyond binary32 is expected as Inf in every output type.
    if (!output.is_infinity(expected)) return 0;
    const exact::Value value = exact_argument(c, site, d);
    const exact::Value largest = exact::decode(formats::f32, Code{formats::f32.code_max_finite()});
    const bool beyond = value.is_finite() && value.magnitude > largest.magnitude;
    return beyond ? 0u | Decision::value_beyond_f32 : 0u;
}

}  // namespace

std::string open_decision(const Case& c, const Site& site, const Difference& difference) {
    const Quantizer& dialect = *c.dialect;
    if (dialect.open == 0) return "";
    std::uint32_t found = 0;
    if (site.is_tensor_number) {
        found = site.device_tensor ? site.device_tensor->decisions : 0;
    } else {
        if (!site.is_scale) found = lane_decisions(c, site, difference);
        if (site.is_scale || c.operation == OperationKind::quantize)
            found |= scale_decisions(c, site, difference);
    }
    for (const auto& [name, text, decision] : decisions)
        if ((found & dialect.open & static_cast<std::uint32_t>(decision)) != 0)
            return std::string(name);
    return "";
}

}  // namespace mx
