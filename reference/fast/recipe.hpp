// Recipes on integers: every step of spec/recipe.hpp.
// Proved by reference/proof/prove_recipe.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/recipe_transform.hpp"
#include "reference/fast/scale.hpp"
#include "reference/spec/recipe_formats.hpp"

namespace mx::fast {

MX_FOLDED constexpr Unpacked whole(std::uint64_t value) {
    return {Kind::finite, false, 0, value};
}

MX_HOST_DEVICE constexpr Unpacked largest_of(const ElementFormat& format) {
    return unpack(format, Code{format.code_max_finite()});
}

MX_HOST_DEVICE constexpr Unpacked over_constant(ConstantDivision division, const Unpacked& value,
                                                const Unpacked& constant) {
    return division == ConstantDivision::divided ? quotient(value, constant)
                                                 : product(value, quotient(whole(1), constant));
}

// The largest element times the largest block scale that is aimed at: 13 bits at most.
MX_HOST_DEVICE constexpr Unpacked range_of_tensor(const Recipe& recipe,
                                                  const ElementFormat& element) {
    Unpacked range = largest_of(element);
    range.significand *= static_cast<std::uint64_t>(recipe.scale_max);
    return range;
}

struct TensorNumbers {
    Unpacked amax;
    Unpacked scale;
};

MX_HOST_DEVICE constexpr Unpacked within_f32(const Unpacked& value) {
    constexpr ElementFormat f32 = formats::f32;
    return value.kind == Kind::infinity ? largest_of(f32) : value;
}

MX_HOST_DEVICE constexpr TensorNumbers tensor_numbers(const Recipe& recipe,
                                                      const RecipeFormat& format,
                                                      const Unpacked& amax,
                                                      const Unpacked& history_scale = {}) {
    const Unpacked range = range_of_tensor(recipe, format.element());
    switch (recipe.tensor_scale) {
        case TensorScale::none:
            return {amax, whole(1)};
        case TensorScale::encode: {
            const Unpacked scale = within_f32(quotient(range, amax));
            return {amax, is_zero(amax) || is_zero(scale) ? whole(1) : scale};
        }
        case TensorScale::decode:
            return {amax, over_constant(recipe.division, amax, range)};
        case TensorScale::history:
            return {amax, history_scale};
    }
    return {};
}

MX_HOST_DEVICE constexpr Unpacked kept_number(const Recipe& recipe, const TensorNumbers& tensor) {
    return recipe.way_back == WayBack::times_scale_amax ? tensor.amax : tensor.scale;
}

// The larger of two amax values as magnitude codes of the input, where NaN stands above all; a NaN
// that does not count is passed over.
MX_HOST_DEVICE constexpr std::uint32_t larger_amax(const Recipe& recipe, const ElementFormat& input,
                                                   std::uint32_t amax, Code lane) {
    const Code magnitude{lane.bits & input.code_magnitude_mask()};
    if (recipe.nan_in_block == NanInBlock::own_lane_only && input.is_nan(magnitude)) return amax;
    return magnitude.bits > amax ? magnitude.bits : amax;
}

enum class Candidate { maps_to_largest, maps_to_two_thirds };

struct RecipeScale {
    Code stored;
    Unpacked scale;
    Unpacked factor;
};

// All but the block itself.
struct BlockQuestion {
    Recipe recipe;
    RecipeFormat format;
    ElementFormat input;
    TensorNumbers tensor;
};

MX_HOST_DEVICE constexpr Unpacked encode_ratio(const BlockQuestion& question,
                                               const Unpacked& amax) {
    const Recipe& recipe = question.recipe;
    const bool useless = amax.kind != Kind::finite || amax.significand == 0;
    if (useless && recipe.useless_amax == UselessAmax::one) return whole(1);
    const Unpacked ratio = quotient(largest_of(question.format.element()), amax);
    if (ratio.kind != Kind::infinity) return ratio;
    if (recipe.encode_overflow == EncodeOverflow::largest_f32) return within_f32(ratio);
    return recipe.encode_overflow == EncodeOverflow::infinity ? ratio : largest_of(question.input);
}

MX_HOST_DEVICE constexpr Unpacked ratio_of(const BlockQuestion& question, const Unpacked& amax) {
    const Recipe& recipe = question.recipe;
    const Unpacked largest = largest_of(question.format.element());
    const Unpacked& tensor = question.tensor.scale;
    switch (recipe.block_ratio) {
        case BlockRatio::amax_over_max:
            return over_constant(recipe.division, amax, largest);
        case BlockRatio::amax_over_max_over_tensor:
            return quotient(over_constant(recipe.division, amax, largest), tensor);
        case BlockRatio::amax_over_max_times_tensor:
            return product(over_constant(recipe.division, amax, largest), tensor);
        case BlockRatio::amax_times_scaled_tensor:
            return within_f32(product(amax, product(tensor, quotient(whole(1), largest))));
        case BlockRatio::max_over_amax:
            return encode_ratio(question, amax);
        case BlockRatio::tensor:
            return tensor;
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

MX_HOST_DEVICE constexpr Unpacked scale_value(BlockScale rule, const Unpacked& ratio,
                                              Candidate candidate) {
    constexpr ElementFormat e4m3 = formats::e4m3;
    constexpr std::uint32_t f32_2tom6 = 0x3C800000;
    switch (rule) {
        case BlockScale::f32:
            return ratio;
        case BlockScale::power_of_two_below:
            return {Kind::finite, false, top_of(ratio), 1};
        case BlockScale::power_of_two_above:
            return power_of_two_above(ratio);
        case BlockScale::e4m3:
            return rounded_within(e4m3, ratio);
        case BlockScale::e4m3_from_2tom6:
            return rounded_within(e4m3, at_least(ratio, f32_2tom6));
        case BlockScale::e4m3_best_of_two:
            return rounded_within(e4m3, candidate == Candidate::maps_to_largest
                                            ? ratio
                                            : product(ratio, {Kind::finite, false, -1, 3}));
    }
    return {};
}

MX_HOST_DEVICE constexpr Unpacked factor_of(Factor rule, const Unpacked& scale,
                                            const Unpacked& tensor) {
    constexpr ElementFormat bf16 = formats::bf16;
    switch (rule) {
        case Factor::encode_scale:
            return scale;
        case Factor::reciprocal:
            return quotient(whole(1), scale);
        case Factor::reciprocal_of_product:
            return within_f32(quotient(whole(1), product(scale, quotient(whole(1), tensor))));
        case Factor::reciprocal_over_scale:
            return quotient(quotient(whole(1), tensor), scale);
        case Factor::bf16_quotient:
            return rounded_within(bf16, quotient(tensor, scale));
        case Factor::none:
            return whole(1);
    }
    return {};
}

// `amax` is not negative.
MX_HOST_DEVICE constexpr RecipeScale block_scale(const BlockQuestion& question,
                                                 const Unpacked& amax,
                                                 Candidate candidate = Candidate::maps_to_largest) {
    const Recipe& recipe = question.recipe;
    const Unpacked ratio = ratio_of(question, at_least(amax, recipe.amax_min));
    const Unpacked scale = scale_value(recipe.block_scale, ratio, candidate);
    const Unpacked stored = recipe.stores_inverse() ? quotient(whole(1), scale) : scale;
    return {round(question.format.scale(), Rounding::nearest_even, Overflow::overflow, stored),
            scale, factor_of(recipe.factor, scale, question.tensor.scale)};
}

MX_HOST_DEVICE constexpr Unpacked scaled_lane(const Recipe& recipe, const RecipeScale& scale,
                                              Unpacked lane) {
    if (recipe.sign_of_zero == SignOfZero::input_dropped && is_zero(lane)) lane.negative = false;
    return recipe.factor == Factor::none ? quotient(lane, scale.scale)
                                         : product(lane, scale.factor);
}

MX_HOST_DEVICE constexpr Code quantize_lane(const BlockQuestion& question, const RecipeScale& scale,
                                            const Unpacked& lane, RandomBits random = {}) {
    return round_element(element_rules(question.recipe), question.format.element(),
                         scaled_lane(question.recipe, scale, lane), random);
}

// Adds the error of one lane's element to the sum of the lanes before it.
MX_HOST_DEVICE constexpr Unpacked error_with(const BlockQuestion& question, const Unpacked& error,
                                             const RecipeScale& scale, const Unpacked& lane) {
    const ElementFormat& element = question.format.element();
    const Unpacked code = unpack(element, quantize_lane(question, scale, lane));
    const Unpacked back = quotient(product(product(code, scale.scale), question.tensor.amax),
                                   range_of_tensor(question.recipe, element));
    Unpacked minus_lane = lane;
    minus_lane.negative = !lane.negative;
    Unpacked difference = sum(back, minus_lane);
    difference.negative = false;
    if (question.recipe.candidate_error == CandidateError::square)
        difference = product(difference, difference);
    return sum(error, difference);
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
// compared where the recipe has two.
template <typename LaneAt>
MX_HOST_DEVICE constexpr RecipeScale chosen_scale(const BlockQuestion& question,
                                                  const Unpacked& amax, int count,
                                                  const LaneAt& lane_at) {
    const RecipeScale largest = block_scale(question, amax);
    if (question.recipe.candidate_error == CandidateError::none) return largest;
    const RecipeScale expanded = block_scale(question, amax, Candidate::maps_to_two_thirds);
    Unpacked error_largest = whole(0), error_expanded = whole(0);
    for (int lane = 0; lane < count; ++lane) {
        error_largest = error_with(question, error_largest, largest, lane_at(lane));
        error_expanded = error_with(question, error_expanded, expanded, lane_at(lane));
    }
    return is_smaller_error(error_expanded, error_largest) ? expanded : largest;
}

struct StoredElement {
    Code scale;
    Code element;
};

// The binary32 value of an element on the way back; `kept` is kept_number.
MX_HOST_DEVICE constexpr Unpacked dequantize_f32(const Recipe& recipe, const RecipeFormat& format,
                                                 const Unpacked& kept, StoredElement stored) {
    const Unpacked value = unpack(format.element(), stored.element);
    const Unpacked scale = unpack(format.scale(), stored.scale);
    switch (recipe.way_back) {
        case WayBack::times_scale:
            return product(value, scale);
        case WayBack::times_scale_tensor:
            return product(value, product(kept, scale));
        case WayBack::times_scale_amax:
            return product(value,
                           product(product(scale, kept),
                                   quotient(whole(1), range_of_tensor(recipe, format.element()))));
    }
    return {};
}

}  // namespace mx::fast
