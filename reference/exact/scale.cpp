// See scale.hpp.
#include "reference/exact/scale.hpp"

#include <algorithm>

#include "reference/exact/log2.hpp"

namespace mx::exact {
namespace {

// The format of binary32 with only `mantissa_bits` of mantissa: where an amax is shortened.
ElementFormat shortened_f32(int mantissa_bits) {
    ElementFormat format = formats::f32;
    format.mantissa_bits = mantissa_bits;
    return format;
}

Value in_f32(const Value& value) {
    return rounded_value(formats::f32, Rounding::nearest_even, value);
}

Value times(const Value& value, const Rational& positive_factor) {
    Value product = value;
    if (product.is_finite()) product.magnitude *= positive_factor;
    return product;
}

Value at_least(const Value& value, std::uint32_t f32_code) {
    const Value least = decode(formats::f32, Code{f32_code});
    return value.is_finite() && value.magnitude < least.magnitude ? least : value;
}

// A value beside a power of two whose log2 in binary32 is a whole number is taken for that power.
Value with_whole_log2f(const Value& value) {
    if (!value.is_finite() || value.magnitude == 0) return value;
    const int below = floor_log2(value.magnitude);
    if (value.magnitude == power_of_two(below)) return value;
    for (const int whole : {below, below + 1})
        if (log2f_rounds_to(whole, value.magnitude))
            return {Value::Kind::finite, false, power_of_two(whole)};
    return value;
}

// Where the exponent field of 2^128 is read as any other, the amax may round to it.
Value shortened_to_2to128(const ElementFormat& element, const Value& amax) {
    const Value rounded =
        rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away, amax);
    const bool is_beyond = rounded.is_infinity() && amax.is_finite();
    return is_beyond ? Value{Value::Kind::finite, false, power_of_two(128)} : rounded;
}

Value with_whole_log2f_to_2to127(const Value& value) {
    const Value whole = with_whole_log2f(value);
    const bool is_beyond = whole.is_finite() && whole.magnitude >= power_of_two(128);
    return is_beyond ? Value{Value::Kind::finite, false, power_of_two(127)} : whole;
}

Value shortened(AmaxRounding rounding, const ElementFormat& element, const Value& amax) {
    switch (rounding) {
        case AmaxRounding::none:
            return amax;
        case AmaxRounding::nearest_away:
            return rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away,
                                 amax);
        case AmaxRounding::nearest_toward_zero:
            return rounded_value(shortened_f32(element.mantissa_bits),
                                 Rounding::nearest_toward_zero, amax);
        case AmaxRounding::one_bit_away:
            return rounded_value(shortened_f32(1), Rounding::nearest_away, amax);
        case AmaxRounding::nearest_away_to_2to128:
            return shortened_to_2to128(element, amax);
        case AmaxRounding::whole_log2f:
            return with_whole_log2f(amax);
        case AmaxRounding::whole_log2f_to_2to127:
            return with_whole_log2f_to_2to127(amax);
    }
    MX_ASSERT(false && "an amax rounding without a definition");
    return amax;
}

Value times_reciprocal(const Rational& largest, const Value& amax) {
    const Value reciprocal = in_f32({Value::Kind::finite, false, 1 / largest});
    return in_f32(times(amax, reciprocal.magnitude));
}

Value ratio_of(ScaleRatio ratio, const ElementFormat& element, const Value& amax) {
    const Rational largest = magnitude_of(element, element.code_max_finite());
    switch (ratio) {
        case ScaleRatio::over_emax:
            return times(amax, power_of_two(-element.exponent_max()));
        case ScaleRatio::over_emax_f32:
            return in_f32(times(amax, power_of_two(-element.exponent_max())));
        case ScaleRatio::times_reciprocal:
            return times_reciprocal(largest, amax);
        case ScaleRatio::times_reciprocal_flushed: {
            const Value product = times_reciprocal(largest, amax);
            return product.is_finite() && product.magnitude < power_of_two(-126) ? Value{}
                                                                                 : product;
        }
        case ScaleRatio::divided:
            return in_f32(times(amax, 1 / largest));
        case ScaleRatio::none:
            return amax;
        case ScaleRatio::times_reciprocal_over_tensor:
        case ScaleRatio::divided_over_tensor:
        case ScaleRatio::over_tensor_divided:
        case ScaleRatio::divided_times_tensor:
        case ScaleRatio::times_scaled_tensor:
        case ScaleRatio::max_over_amax:
        case ScaleRatio::tensor:
            break;
    }
    MX_ASSERT(false && "a ratio that no E8M0 scale has");
    return amax;
}

// What the ratio is taken of: the block's amax, or what the quantizer puts in its place.
Value shortened_amax(const Quantizer& quantizer, const ElementFormat& element, const Value& amax) {
    if (amax.is_infinity() && quantizer.infinity_in_block == InfinityInBlock::counts_as_2to128)
        return {Value::Kind::finite, false, power_of_two(128)};
    const bool is_zero = amax.is_finite() && amax.magnitude == 0;
    if (is_zero && quantizer.zero_block == ZeroBlock::as_2tom126)
        return {Value::Kind::finite, false, power_of_two(-126)};
    return at_least(shortened(quantizer.amax_rounding, element, amax), quantizer.amax_min);
}

// The ratio that becomes the scale.
Value argument_of(const Quantizer& quantizer, const ElementFormat& element,
                  const ScaleSteps& steps) {
    const bool is_zero = steps.amax.is_finite() && steps.amax.magnitude == 0;
    if (is_zero && quantizer.zero_block == ZeroBlock::one_over_emax)
        return {Value::Kind::finite, false, power_of_two(-element.exponent_max())};
    return at_least(ratio_of(quantizer.scale_ratio, element, steps.shortened), quantizer.ratio_min);
}

// The exponent of the power of two that a positive ratio is rounded to, without any limit.
int rounded_exponent(ScaleRounding rounding, const Rational& ratio) {
    const int below = floor_log2(ratio);
    const Rational power = power_of_two(below);
    if (ratio == power) return below;
    const Rational middle = power * 3 / 2;
    const bool below_is_odd_byte = (below + formats::e8m0.exponent_bias) % 2 != 0;
    switch (rounding) {
        case ScaleRounding::toward_zero:
            return below;
        case ScaleRounding::toward_positive:
            return below + 1;
        case ScaleRounding::nearest_even:
            return ratio > middle || (ratio == middle && below_is_odd_byte) ? below + 1 : below;
        case ScaleRounding::nearest_away:
            return ratio >= middle ? below + 1 : below;
        case ScaleRounding::nearest_log2:
            return ratio * ratio >= power * power * 2 ? below + 1 : below;
        case ScaleRounding::nearest_log2f:
            return rounded_log2f(ratio);
        case ScaleRounding::ceil_log2f:
            return log2f_rounds_to(below, ratio) ? below : below + 1;
    }
    MX_ASSERT(false && "a scale rounding without a definition");
    return below;
}

// The byte before the quantizer's limits; not below 0, for no power is below 2^-127.
int rounded_byte(const ScaleCast& cast, const Rational& ratio) {
    if (ratio < power_of_two(-126)) {
        if (cast.underflow == ScaleUnderflow::any_bit_counts) return 1;
        if (cast.underflow == ScaleUnderflow::above_2tom127)
            return ratio > power_of_two(-127) ? 1 : 0;
    }
    return std::max(rounded_exponent(cast.rounding, ratio) + formats::e8m0.exponent_bias, 0);
}

Code byte_of_negative(const ScaleCast& cast, const Value& value) {
    switch (cast.negative) {
        case NegativeScale::magnitude: {
            Value magnitude = value;
            magnitude.negative = false;
            return cast_to_scale(cast, magnitude);
        }
        case NegativeScale::zero_byte:
            return Code{0};
        case NegativeScale::zero_byte_if_finite:
            return Code{value.is_infinity() ? cast.infinity : std::uint8_t{0}};
        case NegativeScale::nan_byte:
            return Code{cast.nan};
    }
    MX_ASSERT(false && "a rule for negative scales without a definition");
    return Code{0};
}

}  // namespace

Code cast_to_scale(const ScaleCast& cast, const Value& value) {
    if (value.is_nan()) return Code{cast.nan};
    if (value.is_finite() && value.magnitude == 0) return Code{cast.zero};
    if (value.negative) return byte_of_negative(cast, value);
    if (value.is_infinity()) return Code{cast.infinity};
    const int byte = rounded_byte(cast, value.magnitude);
    if (byte > cast.byte_max) return Code{cast.overflow};
    return Code{static_cast<std::uint32_t>(std::max(byte, int{cast.byte_min}))};
}

ScaleSteps scale_steps(const Quantizer& quantizer, const BlockFormat& format, const Value& amax) {
    MX_ASSERT(!amax.negative || amax.is_nan());
    const ElementFormat& element = format.element();
    const ScaleCast& cast = quantizer.scale_cast;
    ScaleSteps steps;
    steps.amax = amax;
    steps.shortened = shortened_amax(quantizer, element, amax);
    steps.argument = argument_of(quantizer, element, steps);
    steps.code = cast_to_scale(cast, steps.argument);
    if (!steps.argument.is_finite() || steps.argument.magnitude == 0) {
        steps.overflowed = steps.argument.is_infinity();
        steps.underflowed = amax.is_finite() && amax.magnitude > 0 && steps.argument.is_finite();
        return steps;
    }
    steps.byte = rounded_byte(cast, steps.argument.magnitude);
    steps.overflowed = steps.byte > cast.byte_max;
    steps.underflowed = steps.argument.magnitude < power_of_two(-127);
    return steps;
}

Code encode_scale(const Quantizer& quantizer, const BlockFormat& format, const Value& amax) {
    return scale_steps(quantizer, format, amax).code;
}

}  // namespace mx::exact
