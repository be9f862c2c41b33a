// See site.hpp.
#include "conformance/run/site.hpp"

#include <optional>

#include "conformance/run/rotated_block.hpp"
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

// Of codes those that an amax hangs on, by whatever rule: the largest number, an infinity, a NaN.
std::vector<Code> amax_witnesses(const ElementFormat& format, const std::vector<Code>& codes) {
    std::optional<Code> number, infinity, nan;
    for (const Code code : codes) {
        if (format.is_nan(code))
            nan = code;
        else if (format.is_infinity(code))
            infinity = code;
        else if (!number || format.magnitude(code) > format.magnitude(*number))
            number = code;
    }
    std::vector<Code> witnesses;
    for (const auto& witness : {number, infinity, nan})
        if (witness) witnesses.push_back(*witness);
    return witnesses;
}

std::vector<exact::Value> values_of(const Case& c, const std::vector<Code>& codes) {
    std::vector<exact::Value> values;
    for (const Code code : codes)
        values.push_back(exact::read_input(rules_of(c).subnormals, c.type, code));
    return values;
}

// The lanes as they are quantized.
std::vector<exact::Value> exact_lanes(const Case& c, const Site& site) {
    return exact::transformed(rules_of(c), values_of(c, site.lanes));
}

bool is_rotated(const Case& c) {
    return c.dialect->transform != LaneTransform::none;
}

// Lanes that `before` has, if it is of the same block, are not read again: of a tile there are
// thousands, and as many differences may be in it.
void add_block(const Evidence& e, const BlockPlace& place, const Site* before, Site& site) {
    const std::size_t block = static_cast<std::size_t>(site.block);
    site.has_scale = true;
    site.expected_scale = Code{e.expected[1].at(block)};
    site.actual_scale = Code{e.actual[1].at(block)};
    if (before != nullptr && before->has_scale && before->block == site.block) {
        site.lanes = before->lanes;
        site.rotated = before->rotated;
        site.amax = before->amax;
        site.exact_scale = before->exact_scale;
    } else {
        site.exact_scale = std::make_shared<std::optional<exact::BlockScale>>();
        std::vector<std::uint32_t> codes;
        for (int lane = 0; lane < place.count; ++lane) {
            site.lanes.push_back(Code{e.inputs[0].at(place.element(lane))});
            codes.push_back(site.lanes.back().bits);
        }
        site.amax = fast::amax_of(rules_of(e.c), input_format(e.c), codes.data(), place.count);
        if (is_rotated(e.c)) site.rotated = rotated_ranges(e.c, site.lanes);
    }
    // A tensor that is one block has a scale even where it is empty.
    if (!site.is_scale || site.lanes.empty()) return;
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
        case Part::scales:
            return scale_format_of(c);
        case Part::tensor_number:
            return formats::f32;
        case Part::value_scales:
        case Part::random_bits:
            break;
    }
    return formats::e8m0;
}

bool holds_scales(const Case& c, std::size_t output) {
    const Part part = outputs_of(c)[output];
    return part == Part::scales || part == Part::tensor_number || part == Part::value_scales ||
           casts_to_scale(c);
}

exact::TensorNumbers exact_tensor_numbers(const Evidence& e) {
    const Case& c = e.c;
    if (c.operation != OperationKind::quantize || !has_tensor_number(c)) return {};
    if (c.tensor_number) {
        const exact::Value given = exact::decode(formats::f32, Code{*c.tensor_number});
        return exact::tensor_numbers(*c.dialect, *c.format, given, given);
    }
    std::vector<exact::Value> values;
    if (is_rotated(c)) {
        const Blocking blocking = blocking_of(c);
        for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
            const BlockPlace place = place_of(blocking, block);
            Site group;
            for (int lane = 0; lane < place.count; ++lane)
                group.lanes.push_back(Code{e.inputs[0].at(place.element(lane))});
            for (const exact::Value& value : exact_lanes(c, group)) values.push_back(value);
        }
    } else {
        std::vector<Code> codes;
        for (std::size_t i = 0; i < e.inputs[0].count(); ++i)
            codes.push_back(Code{e.inputs[0].at(i)});
        values = values_of(c, amax_witnesses(c.type, codes));
    }
    return exact::tensor_numbers(*c.dialect, *c.format,
                                 exact::amax_of(rules_of_tensor_amax(*c.dialect), values));
}

namespace {

// An amax is the number that is kept. Of one that no order gives, the blocks are held against ours.
DeviceTensor device_tensor_of(const Evidence& e, const exact::TensorNumbers& expected) {
    const Case& c = e.c;
    const auto parts = outputs_of(c);
    const auto place = std::ranges::find(parts, Part::tensor_number) - parts.begin();
    const auto output = static_cast<std::size_t>(place);
    const Code kept{e.actual[output].at(0)};
    if (kept.bits == e.expected[output].at(0)) return {expected, 0};
    std::vector<exact::LaneRange> ranges;
    const Blocking blocking = blocking_of(c);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace at = place_of(blocking, block);
        std::vector<Code> lanes;
        for (int lane = 0; lane < at.count; ++lane)
            lanes.push_back(Code{e.inputs[0].at(at.element(lane))});
        for (const exact::LaneRange& range : rotated_ranges(c, lanes)) ranges.push_back(range);
    }
    const exact::Value amax = exact::decode(formats::f32, kept);
    const std::uint32_t decisions = amax_decisions(*c.dialect, ranges, amax);
    if (decisions == 0) return {expected, 0};
    return {exact::tensor_numbers(*c.dialect, *c.format, amax), decisions};
}

// Once for all sites of the evidence.
std::optional<DeviceTensor> device_tensor_of(const Evidence& e,
                                             const exact::TensorNumbers& expected,
                                             const Site* before) {
    if (!is_rotated(e.c) || !has_tensor_number(e.c) || e.c.tensor_number) return std::nullopt;
    if (before != nullptr && before->device_tensor) return before->device_tensor;
    return device_tensor_of(e, expected);
}

}  // namespace

Site site_of(const Evidence& e, const Difference& d, const exact::TensorNumbers& tensor,
             const Site* before) {
    Site site;
    site.tensor = tensor;
    site.device_tensor = device_tensor_of(e, tensor, before);
    const OperationKind kind = e.c.operation;
    if (outputs_of(e.c)[d.output] == Part::tensor_number) {
        site.is_tensor_number = true;
        return site;
    }
    site.is_scale = d.output == 1 || kind == OperationKind::encode_scale || casts_to_scale(e.c);
    if (d.output == 1) {
        site.block = static_cast<std::int64_t>(d.element);
    } else {
        const LanePlace place = lane_of(blocking_of(e.c), d.element);
        site.block = place.block;
        site.lane = place.lane;
        site.input = Code{e.inputs[0].at(d.element)};
    }
    if (const StochasticForm* form = stochastic_form_of(e.c); form != nullptr && !site.is_scale) {
        site.random = random_bits_at(e.c, *form, e.inputs.back(), d.element);
        site.random_word = random_word_at(e.c, *form, e.inputs.back(), d.element);
    }
    if (kind == OperationKind::dequantize) {
        site.has_scale = true;
        site.expected_scale = site.actual_scale =
            Code{e.inputs[1].at(static_cast<std::size_t>(site.block))};
    }
    if (kind == OperationKind::quantize)
        add_block(e, place_of(blocking_of(e.c), site.block), before, site);
    return site;
}

exact::Value exact_amax(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    if (c.operation != OperationKind::quantize)
        return exact::read_input(rules.subnormals, input_format(c), site.input);
    if (is_rotated(c)) return exact::amax_of(rules, exact_lanes(c, site));
    return exact::amax_of(rules, values_of(c, amax_witnesses(c.type, site.lanes)));
}

namespace {

// Of a dialect whose scales have a mantissa.
exact::BlockScale make_exact_block_scale(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    const exact::BlockQuestion question{rules, *c.format, c.type, site.tensor};
    if (rules.candidate_error != CandidateError::none)
        return exact::quantize_block(question, exact_lanes(c, site)).scale;
    return exact::block_scale(question, exact_amax(c, site));
}

const exact::BlockScale& exact_block_scale(const Case& c, const Site& site) {
    std::optional<exact::BlockScale>& scale = *site.exact_scale;
    if (!scale) scale = make_exact_block_scale(c, site);
    return *scale;
}

exact::Value exact_lane(const Case& c, const Site& site) {
    if (is_rotated(c)) return exact_lanes(c, site)[static_cast<std::size_t>(site.lane)];
    return exact::read_input(rules_of(c).subnormals, c.type, site.input);
}

exact::Value exact_kept(const Case& c) {
    return exact::decode(formats::f32, Code{c.tensor_number.value_or(0)});
}

bool has_real_scales(const Case& c) {
    return has_blocks(c) && !c.format->has_e8m0_scales();
}

exact::Value argument_under_real_scale(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    if (c.operation == OperationKind::dequantize)
        return exact::dequantize_f32(rules, *c.format, exact_kept(c),
                                     {site.expected_scale, site.input});
    const exact::BlockScale& scale = exact_block_scale(c, site);
    return site.is_scale ? scale.ratio : exact::scaled_lane(rules, scale, exact_lane(c, site));
}

Code answer_under_real_scale(const Case& c, const Site& site) {
    const Quantizer rules = rules_of(c);
    if (c.operation == OperationKind::dequantize)
        return exact::dequantize({rules, *c.format, c.type, exact_kept(c)},
                                 {site.expected_scale, site.input});
    const exact::BlockScale& scale = exact_block_scale(c, site);
    if (site.is_scale) return scale.stored;
    return exact::quantize_lane({rules, *c.format, c.type, site.tensor}, scale, exact_lane(c, site),
                                site.random);
}

}  // namespace

exact::Value exact_argument(const Case& c, const Site& site, const Difference&) {
    const Quantizer rules = rules_of(c);
    if (site.is_tensor_number) return exact::kept_number(rules, site.tensor);
    if (has_real_scales(c)) return argument_under_real_scale(c, site);
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
    if (site.is_tensor_number)
        return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                            exact::kept_number(rules, site.tensor));
    if (has_real_scales(c)) return answer_under_real_scale(c, site);
    if (casts_to_scale(c)) return exact::cast_to_scale(rules.scale_cast, exact_amax(c, site));
    if (site.is_scale) return exact::encode_scale(rules, *c.format, exact_amax(c, site));
    if (c.operation == OperationKind::dequantize)
        return exact::dequantize(*c.format, c.type, site.expected_scale, site.input);
    return exact::round_element(rules, element_format_of(c), exact_argument(c, site, difference),
                                site.random);
}

}  // namespace mx
