// See real_scale.hpp.
#include "reference/exact/real_scale.hpp"

#include "reference/spec/hadamard.hpp"

namespace mx::exact {
namespace {

Value one() {
    return number(1);
}

Value ten_to_30() {
    Rational power = 1;
    for (int i = 0; i < 30; ++i) power *= 10;
    return number(power);
}

// The largest element times the largest block scale that is aimed at.
Value range_of_tensor(const Quantizer& quantizer, const BlockFormat& format) {
    return number(largest_of(format.element()).magnitude * quantizer.scale_max);
}

Value encode_scale_of_tensor(const Quantizer& quantizer, const BlockFormat& format,
                             const Value& amax) {
    const Value scale =
        at_most(quotient(range_of_tensor(quantizer, format), amax), largest_of(formats::f32));
    return is_zero(amax) || is_zero(scale) ? one() : scale;
}

Value largest_allowed(EncodeOverflow overflow, const ElementFormat& input) {
    return largest_of(overflow == EncodeOverflow::largest_input ? input : formats::f32);
}

// max / amax, with what the quantizer makes of an amax that no scale fits.
Value encode_ratio(const BlockQuestion& question, const Value& amax) {
    const Quantizer& quantizer = question.quantizer;
    const bool useless = !amax.is_finite() || amax.magnitude == 0;
    if (useless && quantizer.useless_amax == UselessAmax::one) return one();
    const Value ratio = quotient(largest_of(question.format.element()), amax);
    if (!ratio.is_infinity() || quantizer.encode_overflow == EncodeOverflow::infinity) return ratio;
    return largest_allowed(quantizer.encode_overflow, question.input);
}

Value ratio_of(const BlockQuestion& question, const Value& amax) {
    const Quantizer& quantizer = question.quantizer;
    const Value largest = largest_of(question.format.element());
    const Value& tensor = question.tensor.scale;
    const auto divided = [&] { return quotient(amax, largest); };
    const auto times_reciprocal = [&] { return product(amax, quotient(one(), largest)); };
    switch (quantizer.scale_ratio) {
        case ScaleRatio::divided:
            return divided();
        case ScaleRatio::times_reciprocal:
            return times_reciprocal();
        case ScaleRatio::divided_over_tensor:
            return quotient(divided(), tensor);
        case ScaleRatio::over_tensor_divided:
            return quotient(quotient(amax, tensor), largest);
        case ScaleRatio::times_reciprocal_over_tensor:
            return quotient(times_reciprocal(), tensor);
        case ScaleRatio::divided_times_tensor:
            return product(divided(), tensor);
        case ScaleRatio::times_scaled_tensor:
            return at_most(product(amax, product(tensor, quotient(one(), largest))),
                           largest_of(formats::f32));
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
    MX_ASSERT(false && "a ratio that no scale with a mantissa has");
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
    if (!ratio.is_finite()) return {Value::Kind::infinity, false, 0};
    if (ratio.magnitude < power_of_two(-126)) return {};
    return number(power_of_two(floor_log2(ratio.magnitude)));
}

Value nearest_value(const ElementFormat& format, const Value& ratio) {
    const Value limited = at_most(ratio, largest_of(format));
    return decode(format, round(format, Rounding::nearest_even, Overflow::saturate, limited));
}

Value scale_value(ScaleRule rule, const ElementFormat& format, const Value& ratio,
                  Candidate candidate) {
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
            return nearest_value(format, ratio);
        case ScaleRule::best_of_two: {
            const bool expanded = candidate == Candidate::maps_to_two_thirds;
            return nearest_value(format, expanded ? product(ratio, number(Rational(3, 2))) : ratio);
        }
    }
    MX_ASSERT(false && "a rule that no scale with a mantissa has");
    return {};
}

Value factor_of(Inverse rule, const Value& scale, const Value& tensor) {
    const Value largest = largest_of(formats::f32);
    switch (rule) {
        case Inverse::encode_scale:
            return scale;
        case Inverse::reciprocal:
            return quotient(one(), scale);
        case Inverse::reciprocal_of_product:
            return at_most(quotient(one(), product(scale, quotient(one(), tensor))), largest);
        case Inverse::reciprocal_over_scale:
            return quotient(quotient(one(), tensor), scale);
        case Inverse::bf16_quotient:
            return rounded_in(formats::bf16,
                              at_most(quotient(tensor, scale), largest_of(formats::bf16)));
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
    MX_ASSERT(false && "an inverse that no scale with a mantissa has");
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

std::vector<Value> transformed(const Quantizer& quantizer, std::span<const Value> lanes) {
    if (quantizer.transform == LaneTransform::none) return {lanes.begin(), lanes.end()};
    MX_ASSERT_COMPARE(lanes.size() % hadamard_size, ==, 0u);
    std::vector<Value> rotated;
    for (std::size_t first = 0; first < lanes.size(); first += hadamard_size)
        for (int to = 0; to < hadamard_size; ++to)
            rotated.push_back(rotated_lane(lanes.subspan(first, hadamard_size), to));
    return rotated;
}

TensorNumbers tensor_numbers(const Quantizer& quantizer, const BlockFormat& format,
                             const Value& amax, const Value& history_scale) {
    switch (quantizer.tensor_scale) {
        case TensorScale::none:
            return {amax, one()};
        case TensorScale::encode:
            return {amax, encode_scale_of_tensor(quantizer, format, amax)};
        case TensorScale::decode_divided:
            return {amax, quotient(amax, range_of_tensor(quantizer, format))};
        case TensorScale::decode_times_reciprocal:
            return {amax, product(amax, quotient(one(), range_of_tensor(quantizer, format)))};
        case TensorScale::decode_from_1em30: {
            const Value counted = amax.is_nan() ? Value{} : at_most(amax, largest_of(formats::f32));
            const Value scale = quotient(counted, range_of_tensor(quantizer, format));
            return {amax, at_least(scale, quotient(one(), ten_to_30()))};
        }
        case TensorScale::history:
            return {amax, history_scale};
    }
    MX_ASSERT(false && "a tensor scale without a definition");
    return {};
}

Value kept_number(const Quantizer& quantizer, const TensorNumbers& tensor) {
    return quantizer.way_back == WayBack::times_scale_amax ? tensor.amax : tensor.scale;
}

BlockScale block_scale(const BlockQuestion& question, const Value& amax, Candidate candidate) {
    const Quantizer& quantizer = question.quantizer;
    BlockScale result;
    result.amax = amax;
    if (quantizer.amax_min != 0) result.amax = at_least(amax, f32_of_code(quantizer.amax_min));
    result.ratio = ratio_of(question, result.amax);
    if (quantizer.ratio_min != 0)
        result.ratio = at_least(result.ratio, f32_of_code(quantizer.ratio_min));
    result.scale =
        scale_value(quantizer.scale_rule, question.format.scale(), result.ratio, candidate);
    result.factor = factor_of(quantizer.inverse, result.scale, question.tensor.scale);
    const Value stored = quantizer.stores_inverse() ? quotient(one(), result.scale) : result.scale;
    result.stored =
        round(question.format.scale(), Rounding::nearest_even, Overflow::overflow, stored);
    return result;
}

Value scaled_lane(const Quantizer& quantizer, const BlockScale& scale, const Value& lane) {
    Value value = lane;
    if (is_zero(lane) && quantizer.sign_of_zero == SignOfZero::input_dropped)
        value.negative = false;
    if (!quantizer.divides_lanes()) return product(value, scale.factor);
    Value divided = quotient(value, scale.factor);
    if (quantizer.inverse == Inverse::divided_if_finite && divided.is_infinity())
        divided.kind = Value::Kind::nan;
    return divided;
}

Code quantize_lane(const BlockQuestion& question, const BlockScale& scale, const Value& lane,
                   RandomBits random) {
    return round_element(rules_after_product(question.quantizer), question.format.element(),
                         scaled_lane(question.quantizer, scale, lane), random);
}

namespace {

ScaledBlock quantize_candidate(const BlockQuestion& question, std::span<const Value> lanes,
                               std::span<const RandomBits> random, Candidate candidate) {
    ScaledBlock block;
    block.scale = block_scale(question, amax_of(question.quantizer, lanes), candidate);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        block.elements.push_back(quantize_lane(question, block.scale, lanes[lane],
                                               random.empty() ? RandomBits{} : random[lane]));
    return block;
}

}  // namespace

ScaledBlock quantize_block(const BlockQuestion& question, std::span<const Value> lanes,
                           std::span<const RandomBits> random) {
    ScaledBlock largest = quantize_candidate(question, lanes, random, Candidate::maps_to_largest);
    if (question.quantizer.candidate_error == CandidateError::none) return largest;
    ScaledBlock expanded =
        quantize_candidate(question, lanes, random, Candidate::maps_to_two_thirds);
    const bool is_better = is_less(candidate_error(question, expanded, lanes),
                                   candidate_error(question, largest, lanes));
    return is_better ? expanded : largest;
}

Value candidate_error(const BlockQuestion& question, const ScaledBlock& block,
                      std::span<const Value> lanes) {
    const Value range = range_of_tensor(question.quantizer, question.format);
    Value error;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const Value element = decode(question.format.element(), block.elements[lane]);
        const Value back =
            quotient(product(product(element, block.scale.scale), question.tensor.amax), range);
        Value difference = sum(back, negated(lanes[lane]));
        difference.negative = false;
        if (question.quantizer.candidate_error == CandidateError::square)
            difference = product(difference, difference);
        error = sum(error, difference);
    }
    return error;
}

Value dequantize_f32(const Quantizer& quantizer, const BlockFormat& format, const Value& kept,
                     StoredElement stored) {
    const Value value = decode(format.element(), stored.element);
    const Value scale = decode(format.scale(), stored.scale);
    switch (quantizer.way_back) {
        case WayBack::times_scale:
            return product(value, scale);
        case WayBack::times_scale_tensor:
            return product(value, product(kept, scale));
        case WayBack::times_scale_amax:
            return product(value, product(product(scale, kept),
                                          quotient(one(), range_of_tensor(quantizer, format))));
    }
    MX_ASSERT(false && "a way back without a definition");
    return {};
}

}  // namespace mx::exact
