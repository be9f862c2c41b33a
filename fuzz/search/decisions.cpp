// See decisions.hpp.
#include "fuzz/search/decisions.hpp"

#include <bit>

#include "conformance/data/tensor_number.hpp"
#include "reference/problem/problem.hpp"

namespace mx::fuzz {
namespace {

using fast::Kind;
using fast::Unpacked;

void mark(Reach& reach, Branch branch) {
    reach.set(static_cast<std::size_t>(branch));
}

// Where a finite value that is not 0 lies between two codes.
void mark_position(Reach& reach, const ElementFormat& format, const Unpacked& value) {
    const fast::Leading leading{value.exponent, fast::bit_width(value.significand)};
    const int dropped =
        fast::cut_of(format, {Rounding::nearest_even, {}, value.negative}, leading).dropped;
    if (dropped == 0) return mark(reach, Branch::exact);
    if (dropped >= 63) return mark(reach, Branch::below_half);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t remainder = value.significand & (2 * half - 1);
    if (remainder == 0) return mark(reach, Branch::exact);
    const int below_last_bit = dropped - 1 - std::countr_zero(remainder);
    reach.set(first_sticky + static_cast<std::size_t>(std::min(below_last_bit, 31)));
    if (remainder == half)
        return mark(reach, (value.significand >> dropped & 1) == 0 ? Branch::tie_to_lower
                                                                   : Branch::tie_to_upper);
    mark(reach, remainder < half ? Branch::below_half : Branch::above_half);
    if (half > 1 && remainder == half - 1) mark(reach, Branch::just_below_tie);
    if (half > 1 && remainder == half + 1) mark(reach, Branch::just_above_tie);
}

// Beyond the format's largest value, by however little? Both are compared with their leading bits
// at bit 62.
bool is_beyond(const ElementFormat& format, const Unpacked& value) {
    const Unpacked largest =
        fast::unpack(format, value.negative ? format.negative(format.code_max_finite_negative())
                                            : format.positive(format.code_max_finite()));
    const int width = fast::bit_width(value.significand);
    const int largest_width = fast::bit_width(largest.significand);
    if (value.exponent + width != largest.exponent + largest_width)
        return value.exponent + width > largest.exponent + largest_width;
    return value.significand << (62 - width) > largest.significand << (62 - largest_width);
}

// What a finite value that is not 0 became.
void mark_result(Reach& reach, const ElementFormat& format, const Unpacked& value, Code code) {
    const bool is_special = format.is_nan(code) || format.is_infinity(code);
    if (is_special) return mark(reach, Branch::overflowed);
    if (format.is_zero(code))
        return mark(reach,
                    value.negative ? Branch::underflow_negative : Branch::underflow_positive);
    const std::uint32_t magnitude = format.magnitude(code);
    const Unpacked result = fast::unpack(format, code);
    const int top = value.exponent + fast::bit_width(value.significand);
    const int result_top = result.exponent + fast::bit_width(result.significand);
    if (magnitude >= format.code_max_finite())
        mark(reach, is_beyond(format, value) ? Branch::saturated : Branch::largest);
    else if (result_top > top)
        mark(reach, Branch::carry_to_next_binade);
    if (magnitude == 1) mark(reach, Branch::least);
    if (format.is_subnormal(code)) mark(reach, Branch::subnormal);
}

void mark_nan(Reach& reach, const ElementFormat& format, Code code) {
    mark(reach, format.is_negative(code) ? Branch::nan_negative : Branch::nan_positive);
    const std::uint32_t upper_half = format.code_mantissa_mask() & ~std::uint32_t{0xFFFF};
    if (upper_half != 0 && (code.bits & upper_half) == 0) mark(reach, Branch::nan_low_payload);
}

// `given` is the input's code, `value` what is to be rounded, `code` what it was rounded to.
void mark_element(Reach& reach, const ElementFormat& input, Code given, const ElementFormat& format,
                  const Unpacked& value, Code code) {
    if (format.code_bits() <= 8) reach.set(first_element + (code.bits & 0xFF));
    if (input.is_subnormal(given)) mark(reach, Branch::input_subnormal);
    if (input.is_nan(given)) return mark_nan(reach, input, given);
    const bool negative = input.is_negative(given);
    if (input.is_infinity(given))
        return mark(reach, negative ? Branch::infinity_negative : Branch::infinity_positive);
    if (input.is_zero(given))
        return mark(reach, negative ? Branch::zero_negative : Branch::zero_positive);
    if (value.kind != Kind::finite || value.significand == 0) return;
    mark_position(reach, format, value);
    mark_result(reach, format, value, code);
}

// The lane of the amax, its sign, and whether it stands alone.
void mark_amax_lane(Reach& reach, const ElementFormat& input,
                    std::span<const std::uint32_t> lanes) {
    std::size_t largest = 0, count = 0;
    std::uint32_t amax = 0;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const std::uint32_t magnitude = lanes[lane] & input.code_magnitude_mask();
        if (magnitude < amax || magnitude == 0 || input.is_nan(Code{magnitude})) continue;
        count = magnitude == amax ? count + 1 : 1;
        amax = magnitude;
        largest = lane;
    }
    if (count == 0) return;
    if (count > 1) return mark(reach, Branch::amax_twice);
    reach.set(first_lane + largest * lane_places / std::max(lanes.size(), lane_places));
    if (input.is_negative(Code{lanes[largest]})) mark(reach, Branch::amax_negative);
}

void mark_borders(Reach& reach, const Rules& rules, const Unpacked& amax, Code scale) {
    if (amax.kind != Kind::finite || amax.significand == 0) return;
    Unpacked above = amax, below = amax;
    ++above.significand;
    --below.significand;
    if (!(scale_of(rules, above) == scale)) mark(reach, Branch::border_above);
    if (!(scale_of(rules, below) == scale)) mark(reach, Branch::border_below);
}

// How the ratio was rounded, and whether one ulp of the amax would have changed the scale.
void mark_scale_rounding(Reach& reach, const Rules& rules, const Unpacked& amax, Code scale) {
    const Unpacked ratio =
        rules.is_cast ? amax : fast::scale_argument(rules.dialect, rules.format.element(), amax);
    if (ratio.kind == Kind::finite && ratio.significand != 0) {
        const fast::Normal normal = fast::normal_of(ratio);
        if (normal.mantissa == 0x400000) mark(reach, Branch::scale_half);
        const int exponent = static_cast<int>(scale.bits) - formats::e8m0.exponent_bias;
        mark(reach, normal.mantissa == 0    ? Branch::scale_exact
                    : exponent > normal.top ? Branch::scale_up
                                            : Branch::scale_down);
    }
    mark_borders(reach, rules, amax, scale);
}

void mark_scale_byte(Reach& reach, std::uint32_t byte) {
    reach.set(first_scale + (byte & 0xFF));
    if (byte == 0) mark(reach, Branch::scale_byte_0);
    if (byte == 1) mark(reach, Branch::scale_byte_1);
    if (byte == 254) mark(reach, Branch::scale_byte_254);
    if (byte == 255) mark(reach, Branch::scale_byte_255);
}

void mark_amax(Reach& reach, const Rules& rules, const Unpacked& amax) {
    if (amax.kind == Kind::nan) return mark(reach, Branch::amax_nan);
    if (amax.kind == Kind::infinity) return mark(reach, Branch::amax_infinity);
    if (amax.significand == 0) return mark(reach, Branch::amax_zero);
    const int width = fast::bit_width(amax.significand);
    mark(reach, width <= rules.values.mantissa_bits ? Branch::amax_subnormal : Branch::amax_normal);
}

void mark_scale(Reach& reach, const Rules& rules, const Unpacked& amax, Code scale) {
    mark_scale_byte(reach, scale.bits);
    mark_amax(reach, rules, amax);
    if (amax.kind == Kind::finite && amax.significand != 0)
        mark_scale_rounding(reach, rules, amax, scale);
}

// Of a scale with a mantissa: its byte, or where it has four the exponent.
void mark_real_scale(Reach& reach, const Rules& rules, Code scale) {
    const bool is_byte = rules.format.scale().code_bits() == 8;
    reach.set(first_scale + ((is_byte ? scale.bits : scale.bits >> 23) & 0xFF));
}

Reach reach_of_real_scales(const Rules& rules, std::span<const std::uint32_t> lanes) {
    Reach reach;
    const int count = static_cast<int>(lanes.size());
    const fast::BlockQuestion question = rules.question();
    const auto lane_at = [&](int lane) {
        return fast::read_input(rules.dialect.subnormals, rules.values,
                                Code{lanes[static_cast<std::size_t>(lane)]});
    };
    const Unpacked amax = fast::amax_of(rules.dialect, rules.values, lanes.data(), count);
    const fast::BlockScale scale = fast::chosen_scale(question, amax, count, lane_at);
    mark_real_scale(reach, rules, scale.stored);
    mark_amax(reach, rules, amax);
    mark_borders(reach, rules, amax, scale_of(rules, amax));
    mark_amax_lane(reach, rules.values, lanes);
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked scaled = fast::scaled_lane(rules.dialect, scale, lane_at(lane));
        mark_element(reach, rules.values, Code{lanes[static_cast<std::size_t>(lane)]},
                     rules.element, scaled, fast::quantize_lane(question, scale, lane_at(lane)));
    }
    return reach;
}

Reach reach_of_real_values(const Rules& rules, std::span<const std::uint32_t> lanes, Code scale) {
    Reach reach;
    mark_real_scale(reach, rules, scale);
    const fast::DequantizeQuestion question = rules.dequantize_question();
    for (const std::uint32_t lane : lanes) {
        reach.set(first_element + (lane & 0xFF));
        const fast::StoredElement stored{scale, Code{lane}};
        const Unpacked value =
            fast::dequantize_f32(rules.dialect, rules.format, question.kept, stored);
        mark_element(reach, rules.element, Code{lane}, rules.values, value,
                     fast::dequantize(question, stored));
    }
    return reach;
}

Reach reach_of_block(const Rules& rules, std::span<const std::uint32_t> lanes) {
    Reach reach;
    const int count = static_cast<int>(lanes.size());
    const Unpacked amax = fast::amax_of(rules.dialect, rules.values, lanes.data(), count);
    const Code scale = scale_of(rules, amax);
    mark_scale(reach, rules, amax, scale);
    mark_amax_lane(reach, rules.values, lanes);
    for (const std::uint32_t lane : lanes) {
        const Unpacked value = fast::read_input(rules.dialect.subnormals, rules.values, Code{lane});
        const Unpacked scaled = fast::scaled(rules.dialect, rules.format, scale, value);
        const Code code = fast::round_element(rules.dialect, rules.element, scaled);
        mark_element(reach, rules.values, Code{lane}, rules.element, scaled, code);
    }
    return reach;
}

Reach reach_of_scales(const Rules& rules, std::span<const std::uint32_t> lanes) {
    Reach reach;
    for (const std::uint32_t lane : lanes) {
        const Unpacked amax = fast::read_input(rules.dialect.subnormals, rules.values, Code{lane});
        mark_scale(reach, rules, amax, scale_of(rules, amax));
        if (amax.negative) mark(reach, Branch::amax_negative);
    }
    return reach;
}

Reach reach_of_conversion(const Rules& rules, std::span<const std::uint32_t> lanes) {
    Reach reach;
    for (const std::uint32_t lane : lanes) {
        const Unpacked value = fast::read_input(rules.dialect.subnormals, rules.values, Code{lane});
        const Code code = fast::round_element(rules.dialect, rules.element, value, {0, 8});
        mark_element(reach, rules.values, Code{lane}, rules.element, value, code);
    }
    return reach;
}

Reach reach_of_values(const Rules& rules, std::span<const std::uint32_t> lanes,
                      std::uint32_t scale) {
    Reach reach;
    mark_scale_byte(reach, scale);
    const Unpacked factor = fast::unpack(rules.format.scale(), Code{scale});
    for (const std::uint32_t lane : lanes) {
        reach.set(first_element + (lane & 0xFF));
        Unpacked value = fast::unpack(rules.element, Code{lane});
        value.exponent += factor.exponent;
        if (factor.kind == Kind::nan) value.kind = Kind::nan;
        const Code code = fast::dequantize(rules.format, rules.values, Code{scale}, Code{lane});
        mark_element(reach, rules.element, Code{lane}, rules.values, value, code);
    }
    return reach;
}

using Branches = std::bitset<decision_count>;

Branches range_of(Branch first, Branch last) {
    Branches branches;
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i)
        branches.set(i);
    return branches;
}

}  // namespace

// Stochastic rounding hangs on bits that no search chooses: ties stand for it.
Rules::Rules(const Case& c)
    : kind(c.operation),
      is_cast(casts_to_scale(c)),
      dialect(rules_of(c)),
      format(is_cast ? mx_block_formats[0] : *c.format),
      element(element_format_of(c)),
      values(c.type),
      kept(c.tensor_number.value_or(0)) {
    if (has_real_scales()) tensor = numbers_of(c, kept);
    if (dialect.element_rounding == Rounding::stochastic)
        dialect.element_rounding = Rounding::nearest_even;
}

Code scale_of(const Rules& rules, const Unpacked& amax) {
    if (rules.is_cast) return fast::cast_to_scale(rules.dialect.scale_cast, amax);
    if (rules.has_real_scales()) return fast::block_scale(rules.question(), amax).stored;
    return fast::encode_scale(rules.dialect, rules.format, amax);
}

Reach reach_of(const Rules& rules, std::span<const std::uint32_t> lanes, std::uint32_t scale) {
    if (rules.has_real_scales())
        return rules.kind == OperationKind::quantize
                   ? reach_of_real_scales(rules, lanes)
                   : reach_of_real_values(rules, lanes, Code{scale});
    if (rules.kind == OperationKind::quantize) return reach_of_block(rules, lanes);
    if (rules.kind == OperationKind::dequantize) return reach_of_values(rules, lanes, scale);
    if (rules.kind == OperationKind::convert && !rules.is_cast)
        return reach_of_conversion(rules, lanes);
    return reach_of_scales(rules, lanes);
}

std::bitset<decision_count> decisions_of(const Rules& rules) {
    const Branches scale = range_of(Branch::amax_zero, Branch::amax_normal) |
                           range_of(Branch::scale_exact, Branch::scale_byte_255);
    const Branches elements = range_of(Branch::exact, Branch::input_subnormal);
    if (rules.has_real_scales())
        return rules.kind == OperationKind::dequantize
                   ? elements
                   : elements | range_of(Branch::amax_zero, Branch::amax_twice) |
                         range_of(Branch::border_above, Branch::border_below);
    if (rules.kind == OperationKind::quantize)
        return range_of(Branch::amax_zero, Branch::input_subnormal);
    if (rules.kind == OperationKind::dequantize)
        return elements | range_of(Branch::scale_byte_0, Branch::scale_byte_255);
    if (rules.kind == OperationKind::convert && !rules.is_cast) return elements;
    return scale;
}

}  // namespace mx::fuzz
