// See site.hpp.
#include "conformance/run/site.hpp"

#include "reference/fast/block.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

namespace {

bool same_value(const fast::Unpacked& a, const fast::Unpacked& b) {
    return a.kind == b.kind && a.exponent == b.exponent && a.significand == b.significand;
}

// The lane that alone would give the block's amax.
int amax_lane(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    for (std::size_t lane = 0; lane < site.lanes.size(); ++lane) {
        const std::uint32_t alone = site.lanes[lane].bits;
        if (same_value(fast::amax_of(rules, input_format(c), &alone, 1), site.amax))
            return static_cast<int>(lane);
    }
    return 0;
}

void add_block(const Evidence& e, const BlockPlace& place, Site& site) {
    const std::size_t block = static_cast<std::size_t>(site.block);
    site.has_scale = true;
    site.expected_scale = Code{e.expected[1].at(block)};
    site.actual_scale = Code{e.actual[1].at(block)};
    std::vector<std::uint32_t> codes;
    for (int lane = 0; lane < place.count; ++lane) {
        site.lanes.push_back(Code{e.inputs[0].at(place.element(lane))});
        codes.push_back(site.lanes.back().bits);
    }
    site.amax = fast::amax_of(rules_of(e.c), input_format(e.c), codes.data(), place.count);
    if (!site.is_scale) return;
    site.lane = amax_lane(e.c, site);
    site.input = site.lanes[static_cast<std::size_t>(site.lane)];
}

}  // namespace

const ElementFormat& input_format(const Case& c) {
    return c.operation == OperationKind::dequantize ? element_format_of(c) : c.type;
}

const ElementFormat& output_format(const Case& c, std::size_t output) {
    switch (outputs_of(c)[output]) {
        case Part::values:
            return c.type;
        case Part::elements:
            return element_format_of(c);
        default:
            return formats::e8m0;
    }
}

Site site_of(const Evidence& e, const Difference& d) {
    Site site;
    const OperationKind kind = e.c.operation;
    site.is_scale = d.output == 1 || kind == OperationKind::encode_scale || casts_to_scale(e.c);
    if (d.output == 1) {
        site.block = static_cast<std::int64_t>(d.element);
    } else {
        const LanePlace place = lane_of(blocking_of(e.c), d.element);
        site.block = place.block;
        site.lane = place.lane;
        site.input = Code{e.inputs[0].at(d.element)};
    }
    if (const StochasticForm* form = stochastic_form_of(e.c); form != nullptr)
        site.random = random_bits_at(e.c, *form, e.inputs[1], d.element);
    if (kind == OperationKind::dequantize) {
        site.has_scale = true;
        site.expected_scale = site.actual_scale =
            Code{e.inputs[1].at(static_cast<std::size_t>(site.block))};
    }
    if (kind == OperationKind::quantize) add_block(e, place_of(blocking_of(e.c), site.block), site);
    return site;
}

exact::Value exact_amax(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    const auto read = [&](Code code) {
        return exact::read_input(rules.subnormals, input_format(c), code);
    };
    if (c.operation != OperationKind::quantize) return read(site.input);
    std::vector<exact::Value> values;
    for (const Code lane : site.lanes) values.push_back(read(lane));
    return exact::amax_of(rules, values);
}

exact::Value exact_argument(const Case& c, const Site& site, const Difference&) {
    const Quantizer rules = rules_of(c);
    if (casts_to_scale(c)) return exact_amax(c, site);
    const exact::Value value = exact::read_input(rules.subnormals, input_format(c), site.input);
    if (c.operation == OperationKind::convert) return value;
    const BlockFormat& format = *c.format;
    if (site.is_scale) return exact::scale_steps(rules, format, exact_amax(c, site)).argument;
    if (c.operation == OperationKind::dequantize)
        return exact::dequantize_exact(format, site.expected_scale, site.input);
    return exact::scaled(rules, format, site.expected_scale, value);
}

Code exact_answer(const Case& c, const Site& site, const Difference& difference) {
    const Quantizer rules = rules_of(c);
    if (casts_to_scale(c)) return exact::cast_to_scale(rules.scale_cast, exact_amax(c, site));
    if (site.is_scale) return exact::encode_scale(rules, *c.format, exact_amax(c, site));
    if (c.operation == OperationKind::dequantize)
        return exact::dequantize(*c.format, c.type, site.expected_scale, site.input);
    return exact::round_element(rules, element_format_of(c), exact_argument(c, site, difference),
                                site.random);
}

namespace {

bool scale_underflows(const Case& c, const Site& site) {
    const exact::Value value = exact_amax(c, site);
    if (!casts_to_scale(c)) return exact::scale_steps(rules_of(c), *c.format, value).underflowed;
    return value.is_finite() && value.magnitude < exact::power_of_two(-127);
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
    const std::uint32_t expected_scale = has_lanes ? site.expected_scale.bits : d.expected;
    if (found != 0 || expected_scale != 0) return found;
    // An element under the scale that the dialect chose follows from it: nothing is open there.
    if (!site.is_scale && site.actual_scale == site.expected_scale) return found;
    const bool is_zero = has_lanes ? site.amax.significand == 0 : input.is_zero(site.input);
    if (is_zero) return 0u | Decision::zero_block;
    return scale_underflows(c, site) ? 0u | Decision::scale_underflow : 0u;
}

// Does the element follow from the scale that the device chose, where that choice was open? Then it
// is part of the same decision. Under a NaN scale no element means anything (OCP MX 5.1); a NaN or
// Inf lane has no scaled value to follow from.
bool follows_own_scale(const Case& c, const Site& site, const Difference& d) {
    const BlockFormat& format = *c.format;
    const ElementFormat& input = input_format(c);
    if (format.scale().is_nan(site.actual_scale)) return true;
    if (input.is_nan(site.input) || input.is_infinity(site.input)) return true;
    const Quantizer rules = rules_of(c);
    const Code own = fast::quantize_element(rules, format, site.actual_scale,
                                            fast::read_input(rules.subnormals, input, site.input));
    const bool zero_lost_its_sign = format.element().is_zero(own) && d.actual == 0;
    return own.bits == d.actual || zero_lost_its_sign;
}

// No reading of the text makes a block of finite values NaN.
bool makes_numbers_nan(const Site& site, const Difference& d, std::uint32_t decisions_found) {
    const std::uint32_t of_finite_blocks = Decision::zero_block | Decision::scale_underflow;
    const Code scale = site.has_scale ? site.actual_scale : Code{d.actual};
    return (decisions_found & of_finite_blocks) != 0 && formats::e8m0.is_nan(scale);
}

// What the scale of the whole block hangs on, if the difference hangs on that.
std::uint32_t scale_decisions(const Case& c, const Site& site, const Difference& d) {
    const std::uint32_t found = block_decisions(c, site, d);
    if (makes_numbers_nan(site, d, found)) return 0;
    return site.is_scale || follows_own_scale(c, site, d) ? found : 0;
}

// Is the element what a NaN became? In a format without NaN that may be any code.
bool stands_for_nan(const Case& c, const Site& site) {
    return input_format(c).is_nan(site.input) ||
           (site.has_scale && formats::e8m0.is_nan(site.expected_scale));
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
    std::uint32_t found = site.is_scale ? 0 : lane_decisions(c, site, difference);
    if (site.is_scale || c.operation == OperationKind::quantize)
        found |= scale_decisions(c, site, difference);
    for (const auto& [name, text, decision] : decisions)
        if ((found & dialect.open & static_cast<std::uint32_t>(decision)) != 0)
            return std::string(name);
    return "";
}

}  // namespace mx
