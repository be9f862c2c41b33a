// See block.hpp.
#include "reference/exact/block.hpp"

#include <algorithm>
#include <optional>

namespace mx::exact {
namespace {

Value times(const Value& value, const Rational& factor) {
    Value product = value;
    if (product.is_finite()) product.magnitude *= factor;
    return product;
}

// What a lane is multiplied by: 1 / 2^(scale - 127), except for what a quantizer makes of the bytes
// at the ends. No inverse is a NaN one. To divide by infinity is to multiply by zero.
std::optional<Rational> inverse_of(Inverse inverse, const BlockFormat& format, Code scale) {
    const bool is_nan = decode(format.scale(), scale).is_nan();
    const bool is_of_bits =
        inverse == Inverse::of_scale_bits || inverse == Inverse::over_scale_bits;
    if (is_nan && is_of_bits) return 0;
    if (is_nan) return std::nullopt;
    const Rational exact_power = 1 / decode(format.scale(), scale).magnitude;
    const bool is_smallest = scale.bits == 0;
    const bool is_largest = scale.bits == format.scale().code_max_finite();
    switch (inverse) {
        case Inverse::exact_power:
            return exact_power;
        case Inverse::one_for_byte_zero:
            return is_smallest ? 1 : exact_power;
        case Inverse::zero_for_byte_zero:
        case Inverse::of_scale_bits:
            return is_smallest ? 0 : exact_power;
        case Inverse::zero_at_both_ends:
            return is_smallest || is_largest ? 0 : exact_power;
        case Inverse::over_scale_bits:
            return is_smallest ? power_of_two(126) : exact_power;
        case Inverse::encode_scale:
        case Inverse::reciprocal:
        case Inverse::reciprocal_of_product:
        case Inverse::reciprocal_over_scale:
        case Inverse::bf16_quotient:
        case Inverse::divided:
        case Inverse::divided_by_product:
        case Inverse::divided_if_finite:
            break;
    }
    MX_ASSERT(false && "an inverse that no power of two has");
    return exact_power;
}

// Is a NaN lane passed over in the search for the amax?
bool passes_over_nan(NanInBlock rule, std::span<const Value> lanes) {
    switch (rule) {
        case NanInBlock::poisons_amax:
            return false;
        case NanInBlock::own_lane_only:
        case NanInBlock::own_lane_only_in_blocks:
            return true;
        case NanInBlock::own_lane_unless_all:
            return !std::all_of(lanes.begin(), lanes.end(),
                                [](const Value& lane) { return lane.is_nan(); });
    }
    MX_ASSERT(false && "a rule for NaN in blocks without a definition");
    return false;
}

// |x| in units of the element's last place, plus 1/2 in binary32: what is rounded up to a whole
// number there counts as a tie, and so as that number.
Value with_half_added(const ElementFormat& element, const Value& quotient) {
    const int last_place = std::max(element.quantum_exponent_min(),
                                    floor_log2(quotient.magnitude) - element.mantissa_bits);
    const Rational unit = power_of_two(last_place);
    const Value sum{Value::Kind::finite, false, quotient.magnitude / unit + power_of_two(-1)};
    const Value rounded = rounded_value(formats::f32, Rounding::nearest_even, sum);
    if (whole_part(rounded.magnitude) == whole_part(sum.magnitude)) return quotient;
    return {Value::Kind::finite, quotient.negative, whole_part(rounded.magnitude) * unit};
}

// What a row makes of a quotient before it rounds it to an element.
Value before_rounding(Quotient rule, const ElementFormat& element, const Value& quotient) {
    if (!quotient.is_finite() || quotient.magnitude == 0) return quotient;
    switch (rule) {
        case Quotient::exact:
            return quotient;
        case Quotient::to_f16:
            return rounded_value(formats::f16, Rounding::nearest_even, quotient);
        case Quotient::plus_half_in_f32:
            return with_half_added(element, quotient);
    }
    MX_ASSERT(false && "a rule for quotients without a definition");
    return quotient;
}

}  // namespace

Value amax_of(const Quantizer& quantizer, std::span<const Value> lanes) {
    const bool passes_over = passes_over_nan(quantizer.nan_in_block, lanes);
    Value amax;
    for (const Value& lane : lanes) {
        if (lane.is_nan()) {
            if (passes_over) continue;
            return {Value::Kind::nan, false, 0};
        }
        if (lane.is_infinity()) {
            if (quantizer.infinity_in_block == InfinityInBlock::own_lane_only) continue;
            amax.kind = Value::Kind::infinity;
        }
        if (lane.magnitude > amax.magnitude) amax.magnitude = lane.magnitude;
    }
    return amax;
}

Value scaled(const Quantizer& quantizer, const BlockFormat& format, Code scale,
             const Value& value) {
    const std::optional<Rational> inverse = inverse_of(quantizer.inverse, format, scale);
    if (!inverse || (*inverse == 0 && value.is_infinity())) return {Value::Kind::nan, false, 0};
    return before_rounding(quantizer.quotient, format.element(), times(value, *inverse));
}

Code quantize_element(const Quantizer& quantizer, const BlockFormat& format, Code scale,
                      const Value& value, RandomBits random) {
    return round_element(quantizer, format.element(), scaled(quantizer, format, scale, value),
                         random);
}

Block quantize_block(const Quantizer& quantizer, const BlockFormat& format,
                     std::span<const Value> lanes, std::span<const RandomBits> random) {
    Block block;
    block.scale = encode_scale(quantizer, format, amax_of(quantizer, lanes));
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        block.elements.push_back(quantize_element(quantizer, format, block.scale, lanes[lane],
                                                  random.empty() ? RandomBits{} : random[lane]));
    return block;
}

Value dequantize_exact(const BlockFormat& format, Code scale, Code element) {
    const Value factor = decode(format.scale(), scale);
    if (factor.is_nan()) return {Value::Kind::nan, false, 0};
    return times(decode(format.element(), element), factor.magnitude);
}

Code dequantize(const BlockFormat& format, const ElementFormat& output, Code scale, Code element) {
    return round(output, Rounding::nearest_even, Overflow::overflow,
                 dequantize_exact(format, scale, element));
}

}  // namespace mx::exact
