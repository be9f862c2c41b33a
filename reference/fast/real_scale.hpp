// Blocks whose scale has a mantissa, E4M3, UE5M3 or binary32, on integers: every step of
// spec/quantizer.hpp. quantize.hpp chooses.
// Proved by reference/proof/prove_real_scale.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/hadamard.hpp"
#include "reference/fast/scale.hpp"
#include "reference/spec/formats.hpp"

namespace mx::fast {

MX_FOLDED constexpr Unpacked whole(std::uint64_t value) {
    return {Kind::finite, false, 0, value};
}

MX_HOST_DEVICE constexpr Unpacked largest_of(const ElementFormat& format) {
    return unpack(format, Code{format.code_max_finite()});
}

MX_HOST_DEVICE constexpr Unpacked times_inverse_of(const Unpacked& value,
                                                   const Unpacked& constant) {
    return product(value, quotient(whole(1), constant));
}

// The largest element times the largest block scale that is aimed at: 21 bits at most.
MX_HOST_DEVICE constexpr Unpacked range_of_tensor(const Quantizer& quantizer,
                                                  const ElementFormat& element) {
    Unpacked range = largest_of(element);
    range.significand *= static_cast<std::uint64_t>(quantizer.scale_max);
    return range;
}

struct TensorNumbers {
    Unpacked amax;
    Unpacked scale;
};

inline constexpr std::uint32_t f32_1em30 = 0x0DA24260;

MX_HOST_DEVICE constexpr Unpacked within_f32(const Unpacked& value) {
    constexpr ElementFormat f32 = formats::f32;
    return value.kind == Kind::infinity ? largest_of(f32) : value;
}

MX_HOST_DEVICE constexpr TensorNumbers tensor_numbers(const Quantizer& quantizer,
                                                      const BlockFormat& format,
                                                      const Unpacked& amax,
                                                      const Unpacked& history_scale = {}) {
    const Unpacked range = range_of_tensor(quantizer, format.element());
    switch (quantizer.tensor_scale) {
        case TensorScale::none:
            return {amax, whole(1)};
        case TensorScale::encode: {
            const Unpacked scale = within_f32(quotient(range, amax));
            return {amax, is_zero(amax) || is_zero(scale) ? whole(1) : scale};
        }
        case TensorScale::decode_divided:
            return {amax, quotient(amax, range)};
        case TensorScale::decode_times_reciprocal:
            return {amax, times_inverse_of(amax, range)};
        case TensorScale::decode_from_1em30: {
            const Unpacked number = amax.kind == Kind::nan ? whole(0) : within_f32(amax);
            return {amax, at_least(quotient(number, range), f32_1em30)};
        }
        case TensorScale::history:
            return {amax, history_scale};
    }
    return {};
}

MX_HOST_DEVICE constexpr Unpacked kept_number(const Quantizer& quantizer,
                                              const TensorNumbers& tensor) {
    return quantizer.way_back == WayBack::times_scale_amax ? tensor.amax : tensor.scale;
}

enum class Candidate { maps_to_largest, maps_to_two_thirds };

struct BlockScale {
    Code stored;
    Unpacked scale;
    Unpacked factor;  // what a lane is multiplied by, or divided by if the quantizer divides
};

// All but the block itself.
struct BlockQuestion {
    Quantizer quantizer;
    BlockFormat format;
    ElementFormat input;
    TensorNumbers tensor;
};

MX_HOST_DEVICE constexpr Unpacked encode_ratio(const BlockQuestion& question,
                                               const Unpacked& amax) {
    const Quantizer& quantizer = question.quantizer;
    const bool useless = amax.kind != Kind::finite || amax.significand == 0;
    if (useless && quantizer.useless_amax == UselessAmax::one) return whole(1);
    const Unpacked ratio = quotient(largest_of(question.format.element()), amax);
    if (ratio.kind != Kind::infinity) return ratio;
    if (quantizer.encode_overflow == EncodeOverflow::largest_f32) return within_f32(ratio);
    return quantizer.encode_overflow == EncodeOverflow::infinity ? ratio
                                                                 : largest_of(question.input);
}

MX_HOST_DEVICE constexpr Unpacked ratio_of(const BlockQuestion& question, const Unpacked& amax) {
    const Quantizer& quantizer = question.quantizer;
    const Unpacked largest = largest_of(question.format.element());
    const Unpacked& tensor = question.tensor.scale;
    switch (quantizer.scale_ratio) {
        case ScaleRatio::divided:
            return quotient(amax, largest);
        case ScaleRatio::times_reciprocal:
            return times_inverse_of(amax, largest);
        case ScaleRatio::divided_over_tensor:
            return quotient(quotient(amax, largest), tensor);
        case ScaleRatio::over_tensor_divided:
            return quotient(quotient(amax, tensor), largest);
        case ScaleRatio::times_reciprocal_over_tensor:
            return quotient(times_inverse_of(amax, largest), tensor);
        case ScaleRatio::divided_times_tensor:
            return product(quotient(amax, largest), tensor);
        case ScaleRatio::times_scaled_tensor:
            return within_f32(product(amax, times_inverse_of(tensor, largest)));
        case ScaleRatio::max_over_amax:
            return encode_ratio(question, amax);
        case ScaleRatio::tensor:
            return tensor;
        case ScaleRatio::over_emax:
        case ScaleRatio::over_emax_f32:
        case ScaleRatio::times_reciprocal_flushed:
        case ScaleRatio::none:
            break;
    }
    return {};
}

// The exponent of the leading bit. Of a number that is not zero.
MX_HOST_DEVICE constexpr int top_of(const Unpacked& value) {
    return value.exponent + bit_width(value.significand) - 1;
}

// (bits + 0x7FFFFF) with the mantissa cleared, and the exponent field in [1, 254].
MX_HOST_DEVICE constexpr Unpacked power_of_two_above(const Unpacked& ratio) {
    if (ratio.kind != Kind::finite) return {Kind::finite, false, 127, 1};
    if (ratio.significand == 0) return {Kind::finite, false, -126, 1};
    const bool is_power = (ratio.significand & (ratio.significand - 1)) == 0;
    const int exponent = top_of(ratio) + (is_power ? 0 : 1);
    return {Kind::finite, false, exponent < -126 ? -126 : exponent > 127 ? 127 : exponent, 1};
}

// Binary32 with its mantissa cleared: nothing is left of a subnormal ratio, of NaN an infinity.
MX_HOST_DEVICE constexpr Unpacked power_of_two_below(const Unpacked& ratio) {
    if (ratio.kind != Kind::finite) return {Kind::infinity, false, 0, 0};
    if (ratio.significand == 0 || top_of(ratio) < -126) return {Kind::finite, false, 0, 0};
    return {Kind::finite, false, top_of(ratio), 1};
}

// `format` is the type of the scale.
MX_HOST_DEVICE constexpr Unpacked scale_value(ScaleRule rule, const ElementFormat& format,
                                              const Unpacked& ratio, Candidate candidate) {
    switch (rule) {
        case ScaleRule::e8m0_cast:
            break;
        case ScaleRule::f32:
            return ratio;
        case ScaleRule::power_of_two_below:
            return power_of_two_below(ratio);
        case ScaleRule::power_of_two_above:
            return power_of_two_above(ratio);
        case ScaleRule::nearest:
            return rounded_within(format, ratio);
        case ScaleRule::best_of_two:
            return rounded_within(format, candidate == Candidate::maps_to_largest
                                              ? ratio
                                              : product(ratio, {Kind::finite, false, -1, 3}));
    }
    return {};
}

MX_HOST_DEVICE constexpr Unpacked factor_of(Inverse rule, const Unpacked& scale,
                                            const Unpacked& tensor) {
    constexpr ElementFormat bf16 = formats::bf16;
    switch (rule) {
        case Inverse::encode_scale:
            return scale;
        case Inverse::reciprocal:
            return quotient(whole(1), scale);
        case Inverse::reciprocal_of_product:
            return within_f32(quotient(whole(1), product(scale, quotient(whole(1), tensor))));
        case Inverse::reciprocal_over_scale:
            return quotient(quotient(whole(1), tensor), scale);
        case Inverse::bf16_quotient:
            return rounded_within(bf16, quotient(tensor, scale));
        case Inverse::divided:
        case Inverse::divided_if_finite:
            return scale;
        case Inverse::divided_by_product:
            return product(scale, tensor);
        case Inverse::exact_power:
        case Inverse::one_for_byte_zero:
        case Inverse::zero_for_byte_zero:
        case Inverse::zero_at_both_ends:
        case Inverse::of_scale_bits:
        case Inverse::over_scale_bits:
            break;
    }
    return {};
}

// `amax` is not negative.
MX_HOST_DEVICE constexpr BlockScale block_scale(const BlockQuestion& question, const Unpacked& amax,
                                                Candidate candidate = Candidate::maps_to_largest) {
    const Quantizer& quantizer = question.quantizer;
    const Unpacked ratio =
        at_least(ratio_of(question, at_least(amax, quantizer.amax_min)), quantizer.ratio_min);
    const Unpacked scale =
        scale_value(quantizer.scale_rule, question.format.scale(), ratio, candidate);
    const Unpacked stored = quantizer.stores_inverse() ? quotient(whole(1), scale) : scale;
    return {round(question.format.scale(), Rounding::nearest_even, Overflow::overflow, stored),
            scale, factor_of(quantizer.inverse, scale, question.tensor.scale)};
}

MX_HOST_DEVICE constexpr Unpacked scaled_lane(const Quantizer& quantizer, const BlockScale& scale,
                                              Unpacked lane) {
    if (quantizer.sign_of_zero == SignOfZero::input_dropped && is_zero(lane)) lane.negative = false;
    if (!quantizer.divides_lanes()) return product(lane, scale.factor);
    Unpacked divided = quotient(lane, scale.factor);
    if (quantizer.inverse == Inverse::divided_if_finite && divided.kind == Kind::infinity)
        divided.kind = Kind::nan;
    return divided;
}

MX_HOST_DEVICE constexpr Code quantize_lane(const BlockQuestion& question, const BlockScale& scale,
                                            const Unpacked& lane, RandomBits random = {}) {
    return round_element(rules_after_product(question.quantizer), question.format.element(),
                         scaled_lane(question.quantizer, scale, lane), random);
}

// What an element is read back as, for the errors of two candidates to be compared.
MX_HOST_DEVICE constexpr Unpacked read_back(const BlockQuestion& question, const BlockScale& scale,
                                            Code code) {
    const ElementFormat& element = question.format.element();
    return quotient(product(product(unpack(element, code), scale.scale), question.tensor.amax),
                    range_of_tensor(question.quantizer, element));
}

// The same of elements of 4 bits under one scale: a magnitude is read back once for all lanes.
struct ReadBack {
    Unpacked values[8] = {};
    std::uint32_t known = 0;

    MX_HOST_DEVICE constexpr Unpacked of(const BlockQuestion& question, const BlockScale& scale,
                                         Code code) {
        const ElementFormat& element = question.format.element();
        if (element.code_bits() > 4) return read_back(question, scale, code);
        const Code magnitude{code.bits & element.code_magnitude_mask()};
        if ((known >> magnitude.bits & 1) == 0) {
            values[magnitude.bits] = read_back(question, scale, magnitude);
            known |= 1u << magnitude.bits;
        }
        Unpacked value = values[magnitude.bits];
        value.negative = code.bits != magnitude.bits;
        return value;
    }
};

// Adds the error of one lane's element to the sum of the lanes before it.
MX_HOST_DEVICE constexpr Unpacked error_by(const BlockQuestion& question, const Unpacked& error,
                                           const BlockScale& scale, const Unpacked& lane,
                                           ReadBack& read) {
    const Unpacked back = read.of(question, scale, quantize_lane(question, scale, lane));
    Unpacked minus_lane = lane;
    minus_lane.negative = !lane.negative;
    Unpacked difference = sum(back, minus_lane);
    difference.negative = false;
    if (question.quantizer.candidate_error == CandidateError::square)
        difference = product(difference, difference);
    return sum(error, difference);
}

// The same of a lane by itself.
MX_HOST_DEVICE constexpr Unpacked error_with(const BlockQuestion& question, const Unpacked& error,
                                             const BlockScale& scale, const Unpacked& lane) {
    ReadBack read;
    return error_by(question, error, scale, lane, read);
}

// Errors are binary32 values and not negative: their codes stand in the order of the values.
MX_HOST_DEVICE constexpr std::uint32_t f32_code(const Unpacked& value) {
    constexpr ElementFormat f32 = formats::f32;
    return round(f32, Rounding::nearest_even, Overflow::overflow, value).bits;
}

MX_HOST_DEVICE constexpr bool is_smaller_error(const Unpacked& left, const Unpacked& right) {
    if (left.kind == Kind::nan || right.kind == Kind::nan) return false;
    return f32_code(left) < f32_code(right);
}

// The scale of a block of `count` lanes, which are codes of the input format. Two candidates are
// compared where the quantizer has two.
template <typename LaneAt>
MX_HOST_DEVICE constexpr BlockScale chosen_scale(const BlockQuestion& question,
                                                 const Unpacked& amax, int count,
                                                 const LaneAt& lane_at) {
    const BlockScale largest = block_scale(question, amax);
    if (question.quantizer.candidate_error == CandidateError::none) return largest;
    const BlockScale expanded = block_scale(question, amax, Candidate::maps_to_two_thirds);
    Unpacked error_largest = whole(0), error_expanded = whole(0);
    ReadBack read_largest, read_expanded;
    for (int i = 0; i < count; ++i) {
        const Unpacked lane = lane_at(i);
        error_largest = error_by(question, error_largest, largest, lane, read_largest);
        error_expanded = error_by(question, error_expanded, expanded, lane, read_expanded);
    }
    return is_smaller_error(error_expanded, error_largest) ? expanded : largest;
}

struct StoredElement {
    Code scale;
    Code element;
};

// The binary32 value of an element on the way back; `kept` is kept_number.
MX_HOST_DEVICE constexpr Unpacked dequantize_f32(const Quantizer& quantizer,
                                                 const BlockFormat& format, const Unpacked& kept,
                                                 StoredElement stored) {
    const Unpacked value = unpack(format.element(), stored.element);
    const Unpacked scale = unpack(format.scale(), stored.scale);
    switch (quantizer.way_back) {
        case WayBack::times_scale:
            return product(value, scale);
        case WayBack::times_scale_tensor:
            return product(value, product(kept, scale));
        case WayBack::times_scale_amax:
            return product(
                value, product(product(scale, kept),
                               quotient(whole(1), range_of_tensor(quantizer, format.element()))));
    }
    return {};
}

}  // namespace mx::fast
