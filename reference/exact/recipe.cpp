// See recipe.hpp.
#include "reference/exact/recipe.hpp"

namespace mx::exact {
namespace {

Value one() {
    return number(1);
}

Value over_constant(ConstantDivision division, const Value& value, const Value& constant) {
    return division == ConstantDivision::divided ? quotient(value, constant)
                                                 : product(value, quotient(one(), constant));
}

// The largest element times the largest block scale that is aimed at.
Value range_of_tensor(const Recipe& recipe, const RecipeFormat& format) {
    return number(largest_of(format.element()).magnitude * recipe.scale_max);
}

Value encode_scale_of_tensor(const Recipe& recipe, const RecipeFormat& format, const Value& amax) {
    const Value scale =
        at_most(quotient(range_of_tensor(recipe, format), amax), largest_of(formats::f32));
    return is_zero(amax) || is_zero(scale) ? one() : scale;
}

Value largest_allowed(EncodeOverflow overflow, const ElementFormat& input) {
    return largest_of(overflow == EncodeOverflow::largest_input ? input : formats::f32);
}

// max / amax, with what the recipe makes of an amax that no scale fits.
Value encode_ratio(const BlockQuestion& question, const Value& amax) {
    const Recipe& recipe = question.recipe;
    const bool useless = !amax.is_finite() || amax.magnitude == 0;
    if (useless && recipe.useless_amax == UselessAmax::one) return one();
    const Value ratio = quotient(largest_of(question.format.element()), amax);
    if (!ratio.is_infinity() || recipe.encode_overflow == EncodeOverflow::infinity) return ratio;
    return largest_allowed(recipe.encode_overflow, question.input);
}

Value ratio_of(const BlockQuestion& question, const Value& amax) {
    const Recipe& recipe = question.recipe;
    const Value largest = largest_of(question.format.element());
    const Value& tensor = question.tensor.scale;
    const auto over_max = [&] { return over_constant(recipe.division, amax, largest); };
    switch (recipe.block_ratio) {
        case BlockRatio::amax_over_max:
            return over_max();
        case BlockRatio::amax_over_max_over_tensor:
            return quotient(over_max(), tensor);
        case BlockRatio::amax_over_max_times_tensor:
            return product(over_max(), tensor);
        case BlockRatio::amax_times_scaled_tensor:
            return at_most(product(amax, product(tensor, quotient(one(), largest))),
                           largest_of(formats::f32));
        case BlockRatio::max_over_amax:
            return encode_ratio(question, amax);
        case BlockRatio::tensor:
            return tensor;
    }
    MX_ASSERT(false && "a block ratio without a definition");
    return {};
}

Value power_of_two_above(const Value& ratio) {
    if (!ratio.is_finite()) return number(power_of_two(127));
    const Rational least = power_of_two(-126);
    if (ratio.magnitude <= least) return number(least);
    const Rational below = power_of_two(floor_log2(ratio.magnitude));
    const Rational above = below == ratio.magnitude ? below : Rational(below * 2);
    return at_most(number(above), number(power_of_two(127)));
}

Value power_of_two_below(const Value& ratio) {
    MX_ASSERT(ratio.is_finite());
    MX_ASSERT(ratio.magnitude >= power_of_two(-126));
    return number(power_of_two(floor_log2(ratio.magnitude)));
}

Value e4m3_value(const Value& ratio) {
    return decode(formats::e4m3,
                  round(formats::e4m3, Rounding::nearest_even, Overflow::saturate, ratio));
}

Value scale_value(BlockScale rule, const Value& ratio, Candidate candidate) {
    switch (rule) {
        case BlockScale::f32:
            return ratio;
        case BlockScale::power_of_two_below:
            return power_of_two_below(ratio);
        case BlockScale::power_of_two_above:
            return power_of_two_above(ratio);
        case BlockScale::e4m3:
            return e4m3_value(ratio);
        case BlockScale::e4m3_from_2tom6:
            return e4m3_value(
                at_most(at_least(ratio, number(power_of_two(-6))), largest_of(formats::e4m3)));
        case BlockScale::e4m3_best_of_two: {
            const bool expanded = candidate == Candidate::maps_to_two_thirds;
            const Value wanted = expanded ? product(ratio, number(Rational(3, 2))) : ratio;
            return e4m3_value(at_most(wanted, largest_of(formats::e4m3)));
        }
    }
    MX_ASSERT(false && "a block scale without a definition");
    return {};
}

Value factor_of(Factor rule, const Value& scale, const Value& tensor) {
    const Value largest = largest_of(formats::f32);
    switch (rule) {
        case Factor::encode_scale:
            return scale;
        case Factor::reciprocal:
            return quotient(one(), scale);
        case Factor::reciprocal_of_product:
            return at_most(quotient(one(), product(scale, quotient(one(), tensor))), largest);
        case Factor::reciprocal_over_scale:
            return quotient(quotient(one(), tensor), scale);
        case Factor::bf16_quotient:
            return rounded_in(formats::bf16,
                              at_most(quotient(tensor, scale), largest_of(formats::bf16)));
        case Factor::none:
            return one();
    }
    MX_ASSERT(false && "a factor without a definition");
    return {};
}

// Output `to` of the transform of 16 lanes.
Value rotated_lane(std::span<const Value> lanes, int to) {
    Rational total = 0;
    bool has_nan = false, has_positive = false, has_negative = false;
    for (int from = 0; from < hadamard_size; ++from) {
        const Value& lane = lanes[static_cast<std::size_t>(from)];
        const bool is_below_zero = hadamard_subtracts(from, to) != lane.negative;
        if (lane.is_nan())
            has_nan = true;
        else if (lane.is_infinity())
            (is_below_zero ? has_negative : has_positive) = true;
        else
            total += is_below_zero ? Rational(-lane.magnitude) : lane.magnitude;
    }
    if (has_nan || (has_positive && has_negative)) return {Value::Kind::nan, false, 0};
    if (has_positive || has_negative) return {Value::Kind::infinity, has_negative, 0};
    return rounded_in(formats::bf16, number(total / 4));
}

}  // namespace

std::vector<Value> transformed(const Recipe& recipe, std::span<const Value> lanes) {
    if (recipe.transform == LaneTransform::none) return {lanes.begin(), lanes.end()};
    MX_ASSERT_COMPARE(lanes.size() % hadamard_size, ==, 0u);
    std::vector<Value> rotated;
    for (std::size_t first = 0; first < lanes.size(); first += hadamard_size)
        for (int to = 0; to < hadamard_size; ++to)
            rotated.push_back(rotated_lane(lanes.subspan(first, hadamard_size), to));
    return rotated;
}

Value amax_of(const Recipe& recipe, std::span<const Value> lanes) {
    Value amax;
    for (Value lane : lanes) {
        lane.negative = false;
        if (lane.is_nan() && recipe.nan_in_block == NanInBlock::own_lane_only) continue;
        if (lane.is_nan()) return lane;
        if (is_less(amax, lane)) amax = lane;
    }
    return amax;
}

TensorNumbers tensor_numbers(const Recipe& recipe, const RecipeFormat& format, const Value& amax,
                             const Value& history_scale) {
    switch (recipe.tensor_scale) {
        case TensorScale::none:
            return {amax, one()};
        case TensorScale::encode:
            return {amax, encode_scale_of_tensor(recipe, format, amax)};
        case TensorScale::decode:
            return {amax, over_constant(recipe.division, amax, range_of_tensor(recipe, format))};
        case TensorScale::history:
            return {amax, history_scale};
    }
    MX_ASSERT(false && "a tensor scale without a definition");
    return {};
}

Value kept_number(const Recipe& recipe, const TensorNumbers& tensor) {
    return recipe.way_back == WayBack::times_scale_amax ? tensor.amax : tensor.scale;
}

RecipeScale block_scale(const BlockQuestion& question, const Value& amax, Candidate candidate) {
    const Recipe& recipe = question.recipe;
    RecipeScale result;
    result.amax = amax;
    if (recipe.amax_min != 0) result.amax = at_least(amax, f32_of_code(recipe.amax_min));
    result.ratio = ratio_of(question, result.amax);
    result.scale = scale_value(recipe.block_scale, result.ratio, candidate);
    result.factor = factor_of(recipe.factor, result.scale, question.tensor.scale);
    const Value stored = recipe.stores_inverse() ? quotient(one(), result.scale) : result.scale;
    result.stored =
        round(question.format.scale(), Rounding::nearest_even, Overflow::overflow, stored);
    return result;
}

Value scaled_lane(const Recipe& recipe, const RecipeScale& scale, const Value& lane) {
    Value value = lane;
    if (is_zero(lane) && recipe.sign_of_zero == SignOfZero::input_dropped) value.negative = false;
    return recipe.factor == Factor::none ? quotient(value, scale.scale)
                                         : product(value, scale.factor);
}

Code quantize_lane(const BlockQuestion& question, const RecipeScale& scale, const Value& lane,
                   RandomBits random) {
    return round_element(element_rules(question.recipe), question.format.element(),
                         scaled_lane(question.recipe, scale, lane), random);
}

namespace {

RecipeBlock quantize_candidate(const BlockQuestion& question, std::span<const Value> lanes,
                               std::span<const RandomBits> random, Candidate candidate) {
    RecipeBlock block;
    block.scale = block_scale(question, amax_of(question.recipe, lanes), candidate);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        block.elements.push_back(quantize_lane(question, block.scale, lanes[lane],
                                               random.empty() ? RandomBits{} : random[lane]));
    return block;
}

}  // namespace

RecipeBlock quantize_block(const BlockQuestion& question, std::span<const Value> lanes,
                           std::span<const RandomBits> random) {
    RecipeBlock largest = quantize_candidate(question, lanes, random, Candidate::maps_to_largest);
    if (question.recipe.candidate_error == CandidateError::none) return largest;
    RecipeBlock expanded =
        quantize_candidate(question, lanes, random, Candidate::maps_to_two_thirds);
    const bool is_better = is_less(candidate_error(question, expanded, lanes),
                                   candidate_error(question, largest, lanes));
    return is_better ? expanded : largest;
}

Value candidate_error(const BlockQuestion& question, const RecipeBlock& block,
                      std::span<const Value> lanes) {
    const Value range = range_of_tensor(question.recipe, question.format);
    Value error;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const Value element = decode(question.format.element(), block.elements[lane]);
        const Value back =
            quotient(product(product(element, block.scale.scale), question.tensor.amax), range);
        Value difference = sum(back, negated(lanes[lane]));
        difference.negative = false;
        if (question.recipe.candidate_error == CandidateError::square)
            difference = product(difference, difference);
        error = sum(error, difference);
    }
    return error;
}

Value dequantize_f32(const Recipe& recipe, const RecipeFormat& format, const Value& kept,
                     StoredElement stored) {
    const Value value = decode(format.element(), stored.element);
    const Value scale = decode(format.scale(), stored.scale);
    switch (recipe.way_back) {
        case WayBack::times_scale:
            return product(value, scale);
        case WayBack::times_scale_tensor:
            return product(value, product(kept, scale));
        case WayBack::times_scale_amax:
            return product(value, product(product(scale, kept),
                                          quotient(one(), range_of_tensor(recipe, format))));
    }
    MX_ASSERT(false && "a way back without a definition");
    return {};
}

}  // namespace mx::exact
