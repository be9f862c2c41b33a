// See block.hpp.
#include "reference/exact/block.hpp"

namespace mx::exact {
namespace {

// The format of binary32 with only `mantissa_bits` of mantissa: where even_amax rounds the amax.
ElementFormat shortened_f32(int mantissa_bits) {
    ElementFormat format = formats::f32;
    format.mantissa_bits = mantissa_bits;
    return format;
}

Value rounded_value(const ElementFormat& format, Rounding rounding, const Value& value) {
    return decode(format, round(format, rounding, Overflow::overflow, value));
}

Value times(const Value& value, const Rational& positive_factor) {
    Value product = value;
    if (product.is_finite()) product.magnitude *= positive_factor;
    return product;
}

Value largest_value(const ElementFormat& format) {
    return decode(format, Code{format.code_max_finite()});
}

// fl32(1 / largest element value), the constant that multiplies amax.
Rational reciprocal_of_largest(const ElementFormat& element) {
    const Value reciprocal{Value::Kind::finite, false, 1 / largest_value(element).magnitude};
    return rounded_value(formats::f32, Rounding::nearest_even, reciprocal).magnitude;
}

// What the scale rule rounds to a power of two, and in which direction.
std::pair<Value, Rounding> scale_argument(ScaleRule rule, const ElementFormat& element,
                                          const Value& amax) {
    const Rational one_over_emax = power_of_two(-element.exponent_max());
    switch (rule) {
        case ScaleRule::floor_amax:
            return {times(amax, one_over_emax), Rounding::toward_zero};
        case ScaleRule::ceil_amax:
            return {times(amax, one_over_emax), Rounding::toward_positive};
        case ScaleRule::even_amax: {
            const Value even =
                rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away, amax);
            return {times(even, one_over_emax), Rounding::toward_zero};
        }
        case ScaleRule::round_up_ratio: {
            const Value product = times(amax, reciprocal_of_largest(element));
            return {rounded_value(formats::f32, Rounding::nearest_even, product),
                    Rounding::toward_positive};
        }
    }
    MX_ASSERT(false && "a scale rule without a definition");
    return {};
}

Overflow overflow_of(ScaleOverflow overflow) {
    return overflow == ScaleOverflow::nan ? Overflow::overflow : Overflow::saturate;
}

}  // namespace

Value amax_of(const Dialect& dialect, std::span<const Value> lanes) {
    Value amax;
    for (const Value& lane : lanes) {
        if (lane.is_nan()) {
            if (dialect.nan_in_block == NanInBlock::poisons_scale)
                return {Value::Kind::nan, false, 0};
            continue;
        }
        if (lane.is_infinity()) amax.kind = Value::Kind::infinity;
        if (lane.is_finite() && lane.magnitude > amax.magnitude) amax.magnitude = lane.magnitude;
    }
    return amax;
}

ScaleSteps scale_steps(const Dialect& dialect, const BlockFormat& format, const Value& amax) {
    MX_ASSERT(!amax.negative || amax.is_nan());
    ScaleSteps steps;
    steps.amax = amax;
    const auto [argument, rounding] = scale_argument(dialect.scale_rule, format.element(), amax);
    steps.argument = argument;
    steps.rounding = rounding;
    const Rounded rounded =
        round_with_reasons(format.scale(), rounding, overflow_of(dialect.scale_overflow), argument);
    steps.overflowed = rounded.overflowed;
    steps.underflowed = rounded.underflowed && amax.is_finite() && amax.magnitude > 0;
    steps.code = rounded.code;
    return steps;
}

Code encode_scale(const Dialect& dialect, const BlockFormat& format, const Value& amax) {
    return scale_steps(dialect, format, amax).code;
}

Value scaled(const BlockFormat& format, Code scale, const Value& value) {
    const Value factor = decode(format.scale(), scale);
    if (factor.is_nan()) return {Value::Kind::nan, false, 0};
    return times(value, 1 / factor.magnitude);
}

Code quantize_element(const Dialect& dialect, const BlockFormat& format, Code scale,
                      const Value& value) {
    return round_element(dialect, format.element(), scaled(format, scale, value));
}

Block quantize_block(const Dialect& dialect, const BlockFormat& format,
                     std::span<const Value> lanes) {
    Block block;
    block.scale = encode_scale(dialect, format, amax_of(dialect, lanes));
    for (const Value& lane : lanes)
        block.elements.push_back(quantize_element(dialect, format, block.scale, lane));
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
