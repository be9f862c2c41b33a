// Whole blocks: quantize one block of input codes, dequantize one element.
// Proved by reference/proof/prove_block.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/scale.hpp"

namespace mx::fast {

// The block's amax as the quantizer sees it. In an input format magnitude codes of finite values,
// Inf and NaN stand in that order, so a maximum of codes lets a NaN win where it should.
MX_FOLDED constexpr Unpacked amax_of(const Quantizer& quantizer, const ElementFormat& input,
                                     const std::uint32_t* lanes, std::int64_t count) {
    const bool skips_nan = quantizer.nan_in_block != NanInBlock::poisons_amax;
    const bool needs_a_number = quantizer.nan_in_block == NanInBlock::own_lane_unless_all;
    bool all_nan = count > 0;
    const bool skips_infinity = quantizer.infinity_in_block == InfinityInBlock::own_lane_only;
    std::uint32_t amax = 0;
    for (std::int64_t lane = 0; lane < count; ++lane) {
        const Code magnitude{lanes[lane] & input.code_magnitude_mask()};
        if (skips_nan && input.is_nan(magnitude)) continue;
        all_nan = false;
        if (skips_infinity && input.is_infinity(magnitude)) continue;
        if (magnitude.bits > amax) amax = magnitude.bits;
    }
    if (needs_a_number && all_nan) return {Kind::nan, false, 0, 0};
    return read_input(quantizer.subnormals, input, Code{amax});
}

// Both finite.
MX_HOST_DEVICE constexpr bool is_larger_magnitude(const Unpacked& left, const Unpacked& right) {
    if (left.significand == 0 || right.significand == 0) return right.significand == 0;
    const int left_shift = 64 - bit_width(left.significand);
    const int right_shift = 64 - bit_width(right.significand);
    const int left_exponent = left.exponent - left_shift;
    const int right_exponent = right.exponent - right_shift;
    if (left_exponent != right_exponent) return left_exponent > right_exponent;
    return left.significand << left_shift > right.significand << right_shift;
}

// The same of values. As exact::amax_of.
MX_HOST_DEVICE constexpr Unpacked amax_of_values(const Quantizer& quantizer, const Unpacked* lanes,
                                                 int count) {
    bool all_nan = count > 0, some_nan = false;
    Unpacked amax{};
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked& value = lanes[lane];
        some_nan |= value.kind == Kind::nan;
        all_nan &= value.kind == Kind::nan;
        if (value.kind == Kind::infinity &&
            quantizer.infinity_in_block != InfinityInBlock::own_lane_only)
            amax = {Kind::infinity, false, 0, 0};
        if (value.kind == Kind::finite && amax.kind == Kind::finite &&
            is_larger_magnitude(value, amax))
            amax = {Kind::finite, false, value.exponent, value.significand};
    }
    const bool is_nan = (some_nan && quantizer.nan_in_block == NanInBlock::poisons_amax) ||
                        (all_nan && quantizer.nan_in_block == NanInBlock::own_lane_unless_all);
    return is_nan ? Unpacked{Kind::nan, false, 0, 0} : amax;
}

// Does the quantizer take the inverse of this byte for zero?
MX_FOLDED constexpr bool has_zero_inverse(Inverse inverse, const ElementFormat& scale_format,
                                          Code scale) {
    if (scale_format.is_nan(scale))
        return inverse == Inverse::of_scale_bits || inverse == Inverse::over_scale_bits;
    if (scale.bits == scale_format.code_max_finite()) return inverse == Inverse::zero_at_both_ends;
    return scale.bits == 0 &&
           (inverse == Inverse::zero_for_byte_zero || inverse == Inverse::zero_at_both_ends ||
            inverse == Inverse::of_scale_bits);
}

// What a row makes of a quotient before it rounds it to an element. The quotient has 24 digits at
// most, so that of all values below a tie only the one next to the smallest tie, 1/2 - 2^-25 units,
// gives a sum with 1/2 that is rounded up to a whole number in binary32.
MX_FOLDED constexpr Unpacked before_rounding(Quotient rule, const ElementFormat& element,
                                             const Unpacked& quotient) {
    if (rule == Quotient::exact || quotient.kind != Kind::finite || quotient.significand == 0)
        return quotient;
    constexpr ElementFormat f16 = formats::f16;
    if (rule == Quotient::to_f16) return rounded_value(f16, Rounding::nearest_even, quotient);
    const int half = element.quantum_exponent_min() - 1;
    const bool is_next_below_half =
        quotient.significand == 0xFFFFFF && quotient.exponent + 24 == half;
    return is_next_below_half ? Unpacked{Kind::finite, quotient.negative, half, 1} : quotient;
}

// The lane divided by its scale.
MX_FOLDED constexpr Unpacked scaled(const Quantizer& quantizer, const BlockFormat& format,
                                    Code scale, Unpacked value) {
    const Inverse inverse = quantizer.inverse;
    const Unpacked factor = unpack(format.scale(), scale);
    if (has_zero_inverse(inverse, format.scale(), scale)) {
        if (value.kind == Kind::infinity) return {Kind::nan, false, 0, 0};
        value.significand = 0;
        return value;
    }
    if (factor.kind == Kind::nan) return {Kind::nan, false, 0, 0};
    const bool byte_zero_is_one = inverse == Inverse::one_for_byte_zero && scale.bits == 0;
    const bool byte_zero_is_normal = inverse == Inverse::over_scale_bits && scale.bits == 0;
    value.exponent -= byte_zero_is_one ? 0 : byte_zero_is_normal ? -126 : factor.exponent;
    return before_rounding(quantizer.quotient, format.element(), value);
}

// The element for one value under a given scale: value / 2^(scale - 127), rounded once; the
// quantizer may take byte 0 for something else.
MX_FOLDED constexpr Code quantize_element(const Quantizer& quantizer, const BlockFormat& format,
                                          Code scale, const Unpacked& value,
                                          RandomBits random = {}) {
    return round_element(quantizer, format.element(), scaled(quantizer, format, scale, value),
                         random);
}

// Quantizes `count` lanes of `input` codes; writes one element code a lane and returns the scale.
// `random` has a value for each lane, or is null.
MX_FOLDED constexpr Code quantize_block(const Quantizer& quantizer, const BlockFormat& format,
                                        const ElementFormat& input, const std::uint32_t* lanes,
                                        int count, std::uint8_t* elements,
                                        const RandomBits* random = nullptr) {
    const Code scale = encode_scale(quantizer, format, amax_of(quantizer, input, lanes, count));
    for (int lane = 0; lane < count; ++lane) {
        const Unpacked value = read_input(quantizer.subnormals, input, Code{lanes[lane]});
        const RandomBits bits = random == nullptr ? RandomBits{} : random[lane];
        elements[lane] =
            static_cast<std::uint8_t>(quantize_element(quantizer, format, scale, value, bits).bits);
    }
    return scale;
}

// scale * element in `output`, nearest even; beyond its range Inf.
MX_FOLDED constexpr Code dequantize(const BlockFormat& format, const ElementFormat& output,
                                    Code scale, Code element) {
    const Unpacked factor = unpack(format.scale(), scale);
    Unpacked value = unpack(format.element(), element);
    if (factor.kind == Kind::nan) value = {Kind::nan, false, 0, 0};
    value.exponent += factor.exponent;
    return round(output, Rounding::nearest_even, Overflow::overflow, value);
}

}  // namespace mx::fast
