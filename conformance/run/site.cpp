// See site.hpp.
#include "conformance/run/site.hpp"

#include "conformance/case/rules.hpp"
#include "reference/fast/block.hpp"

namespace mx {

const ElementFormat& input_format(const Case& c) {
    return c.operation == "dequantize" ? block_format_of(c).element() : value_format_of(c);
}

const ElementFormat& output_format(const Case& c, std::size_t output) {
    if (c.operation == "dequantize") return value_format_of(c);
    if (output == 1 || c.operation == "encode_scale") return formats::e8m0;
    return block_format_of(c).element();
}

Site site_of(const Evidence& e, const Difference& d) {
    Site site;
    const BlockGrid grid = block_grid(e.c);
    if (d.output == 1) {
        site.block = static_cast<std::int64_t>(d.element);
        site.is_scale = true;
    } else {
        const LanePlace place = lane_of(e.c, grid, d.element);
        site.block = place.block;
        site.lane = place.lane;
        site.input = Code{e.inputs[0].at(d.element)};
    }
    site.is_scale = site.is_scale || e.c.operation == "encode_scale";
    const std::size_t block = static_cast<std::size_t>(site.block);
    if (e.c.operation == "dequantize") {
        site.has_scale = true;
        site.expected_scale = site.actual_scale = Code{e.inputs[1].at(block)};
    }
    if (e.c.operation != "quantize") return site;
    site.has_scale = true;
    site.expected_scale = Code{e.expected[1].at(block)};
    site.actual_scale = Code{e.actual[1].at(block)};
    const BlockPlace place = place_of(e.c, grid, site.block);
    std::vector<std::uint32_t> codes;
    for (int lane = 0; lane < place.count; ++lane) {
        site.lanes.push_back(
            Code{e.inputs[0].at(place.first + static_cast<std::size_t>(lane) * place.step)});
        codes.push_back(site.lanes.back().bits);
    }
    site.amax = fast::amax_of(rules_of(e.c), input_format(e.c), codes.data(), place.count);
    if (!site.is_scale) return site;
    const std::uint32_t mask = input_format(e.c).code_magnitude_mask();
    for (int lane = 0; lane < place.count; ++lane)
        if ((codes[static_cast<std::size_t>(lane)] & mask) == site.amax.bits) {
            site.lane = lane;
            site.input = site.lanes[static_cast<std::size_t>(lane)];
            break;
        }
    return site;
}

namespace {

// The block's amax, from the exact oracle.
exact::Value exact_amax(const Case& c, const Site& site) {
    if (c.operation == "encode_scale") return exact::decode(input_format(c), site.input);
    std::vector<exact::Value> values;
    for (const Code lane : site.lanes) values.push_back(exact::decode(input_format(c), lane));
    return exact::amax_of(rules_of(c), values);
}

}  // namespace

exact::Value exact_argument(const Case& c, const Site& site, const Difference&) {
    const BlockFormat& format = block_format_of(c);
    if (site.is_scale) return exact::scale_steps(rules_of(c), format, exact_amax(c, site)).argument;
    if (c.operation == "dequantize")
        return exact::dequantize_exact(format, site.expected_scale, site.input);
    const exact::Value value = exact::decode(input_format(c), site.input);
    return site.has_scale ? exact::scaled(format, site.expected_scale, value) : value;
}

Code exact_answer(const Case& c, const Site& site, const Difference& difference) {
    const BlockFormat& format = block_format_of(c);
    if (site.is_scale) return exact::encode_scale(rules_of(c), format, exact_amax(c, site));
    if (c.operation == "dequantize")
        return exact::dequantize(format, value_format_of(c), site.expected_scale, site.input);
    return exact::round_element(rules_of(c), format.element(), exact_argument(c, site, difference));
}

namespace {

// The open decisions that a whole block hangs on.
std::uint32_t block_decisions(const Case& c, const Site& site, const Difference& d) {
    const ElementFormat& input = input_format(c);
    std::uint32_t found = 0;
    std::vector<Code> codes = site.lanes;
    if (c.operation == "encode_scale") codes = {site.input};
    for (const Code code : codes) {
        if (input.is_nan(code)) found = found | Decision::nan_in_block;
        if (input.is_infinity(code)) found = found | Decision::infinity_in_block;
    }
    const std::uint32_t expected_scale =
        c.operation == "quantize" ? site.expected_scale.bits : d.expected;
    if (found != 0 || expected_scale != 0) return found;
    // An element under the scale that the dialect chose follows from it: nothing is open there.
    if (!site.is_scale && site.actual_scale == site.expected_scale) return found;
    const std::uint32_t amax = c.operation == "encode_scale" ? site.input.bits : site.amax.bits;
    if (input.is_zero(Code{amax})) return 0u | Decision::zero_block;
    const exact::ScaleSteps steps =
        exact::scale_steps(rules_of(c), block_format_of(c), exact_amax(c, site));
    return steps.underflowed ? 0u | Decision::scale_underflow : 0u;
}

// Does the element follow from the scale that the device chose, where that choice was open? Then it
// is part of the same decision. Under a NaN scale no element means anything (OCP MX 5.1); a NaN or
// Inf lane has no scaled value to follow from.
bool follows_own_scale(const Case& c, const Site& site, const Difference& d) {
    const BlockFormat& format = block_format_of(c);
    const ElementFormat& input = input_format(c);
    if (format.scale().is_nan(site.actual_scale)) return true;
    if (input.is_nan(site.input) || input.is_infinity(site.input)) return true;
    const Code own = fast::quantize_element(rules_of(c), format, site.actual_scale,
                                            fast::unpack(input, site.input));
    const bool zero_lost_its_sign = format.element().is_zero(own) && d.actual == 0;
    return own.bits == d.actual || zero_lost_its_sign;
}

// No reading of the text makes a block of finite values NaN.
bool makes_numbers_nan(const Case& c, const Site& site, const Difference& d,
                       std::uint32_t decisions_found) {
    const std::uint32_t of_finite_blocks = Decision::zero_block | Decision::scale_underflow;
    const Code scale = c.operation == "encode_scale" ? Code{d.actual} : site.actual_scale;
    return (decisions_found & of_finite_blocks) != 0 && formats::e8m0.is_nan(scale);
}

// What the scale of the whole block hangs on, if the difference hangs on that.
std::uint32_t scale_decisions(const Case& c, const Site& site, const Difference& d) {
    const std::uint32_t found = block_decisions(c, site, d);
    if (makes_numbers_nan(c, site, d, found)) return 0;
    return site.is_scale || follows_own_scale(c, site, d) ? found : 0;
}

std::uint32_t lane_decisions(const Case& c, const Site& site, const Difference& d) {
    const ElementFormat& output = output_format(c, d.output);
    const Code expected{d.expected}, actual{d.actual};
    // A zero may lose its sign; it cannot gain one.
    if (output.is_zero(expected) && d.actual == 0) return 0u | Decision::sign_of_zero;
    if (output.is_nan(expected) && output.is_nan(actual)) return 0u | Decision::nan_code;
    if (c.operation != "dequantize" || d.expected == d.actual) return 0;
    // A value beyond binary32 is expected as Inf in every output type.
    if (!output.is_infinity(expected)) return 0;
    const exact::Value value = exact_argument(c, site, d);
    const exact::Value largest = exact::decode(formats::f32, Code{formats::f32.code_max_finite()});
    const bool beyond = value.is_finite() && value.magnitude > largest.magnitude;
    return beyond ? 0u | Decision::value_beyond_f32 : 0u;
}

}  // namespace

std::string open_decision(const Case& c, const Site& site, const Difference& difference) {
    const Dialect& dialect = *find_dialect(c.dialect);
    if (dialect.open == 0) return "";
    std::uint32_t found = site.is_scale ? 0 : lane_decisions(c, site, difference);
    if (c.operation == "quantize" || c.operation == "encode_scale")
        found |= scale_decisions(c, site, difference);
    for (const auto& [name, decision] : decisions)
        if ((found & dialect.open & static_cast<std::uint32_t>(decision)) != 0)
            return std::string(name);
    return "";
}

}  // namespace mx
