// See dot_model.hpp.
#include "reference/exact/dot_model.hpp"

#include <algorithm>
#include <vector>

#include "reference/exact/arithmetic.hpp"

namespace mx::exact {
namespace {

// The exponent that a machine reads from the fields of a number: that of the smallest normal one
// for what lies below it.
int exponent_of(const ElementFormat& format, const Value& value) {
    if (!value.is_finite() || value.magnitude == 0) return format.exponent_min();
    return std::max(floor_log2(value.magnitude), format.exponent_min());
}

const ElementFormat& alignment_format(const GemmModel& model, const ElementFormat& element) {
    return model.exponents == FactorExponents::own ? element : formats::f16;
}

// What a machine that knows no subnormals takes for 0: the 0 of its sign.
Value flushed(const ElementFormat& format, Value value) {
    const bool is_small =
        value.is_finite() && value.magnitude < power_of_two(format.exponent_min());
    if (is_small) value.magnitude = 0;
    return value;
}

// The same of what comes from outside: +0.
Value flushed_input(const ElementFormat& format, const Value& value) {
    const Value kept = flushed(format, value);
    return is_zero(kept) ? number(0) : kept;
}

// A factor as dequantising it to bfloat16 makes it.
Value dequantised(const ScaledRow& row, std::int64_t k) {
    return rounded_value(
        formats::bf16, Rounding::nearest_even,
        times(decode(row.element, row.codes.at(k)), decode(row.scale, row.scale_at(k))));
}

Summand product_of(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t k) {
    if (model.scaling == BlockScaling::dequantised) {
        const Value x = dequantised(a, k), y = dequantised(b, k);
        return {times(x, y), exponent_of(formats::bf16, x) + exponent_of(formats::bf16, y)};
    }
    Value x = decode(a.element, a.codes.at(k)), y = decode(b.element, b.codes.at(k));
    if (model.sum == StepSum::pairs_flushed) {
        x = flushed_input(a.element, x);
        y = flushed_input(b.element, y);
    }
    if (flushes_in_f32(model.sum)) {
        const bool is_converted = model.exponents == FactorExponents::f16;
        const ElementFormat& format = is_converted ? formats::f16 : formats::f32;
        x = flushed(format, x);
        y = flushed(format, y);
    }
    Summand product{times(x, y), exponent_of(alignment_format(model, a.element), x) +
                                     exponent_of(alignment_format(model, b.element), y)};
    if (model.scaling != BlockScaling::product_exponent) return product;
    const Value scale = times(decode(a.scale, a.scale_at(k)), decode(b.scale, b.scale_at(k)));
    product.value = times(product.value, scale);
    // Scales of NVFP4 can be zero, and the product with them.
    if (scale.is_finite() && !is_zero(scale)) product.exponent += floor_log2(scale.magnitude);
    return product;
}

// The places of a step's products, in groups that are summed exactly.
std::int64_t place_in_order(ProductOrder order, std::int64_t index) {
    if (order == ProductOrder::along_k) return index;
    // 32 neighbours make two steps of 16: of every four, the first two belong to the first step.
    const std::int64_t within = index % 32;
    const std::int64_t half = within / 16, pair = within % 16 / 2;
    return index - within + 4 * pair + 2 * half + within % 2;
}

Summand group_of(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t first,
                 std::int64_t depth) {
    Value sum = number(0);
    for (std::int64_t i = first; i < std::min(depth, first + model.exact_group); ++i)
        sum = plus(sum, times(decode(a.element, a.codes.at(i)), decode(b.element, b.codes.at(i))));
    const Value x = decode(a.scale, a.scale_at(first)), y = decode(b.scale, b.scale_at(first));
    return {times(sum, times(x, y)), exponent_of(a.scale, x) + exponent_of(b.scale, y)};
}

// The summands of the step that begins with product `first`, as many as there are before the end.
std::vector<Summand> summands_of(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                                 std::int64_t first, std::int64_t depth) {
    std::vector<Summand> summands;
    for (std::int64_t i = 0; i < model.products; ++i) {
        const std::int64_t k = place_in_order(model.order, first + i * model.exact_group);
        if (k >= depth) continue;
        summands.push_back(model.scaling == BlockScaling::group ? group_of(model, a, b, k, depth)
                                                                : product_of(model, a, b, k));
    }
    return summands;
}

// Products first rounded, then in pairs of pairs; each half may be shorter than the other.
Value tree_sum(const GemmModel& model, std::span<const Summand> summands, std::size_t places) {
    const ElementFormat& format = model.accumulator;
    const auto rounded = [&](const Value& value) {
        return flushed(format, rounded_value(format, model.rounding, value));
    };
    if (summands.empty()) return number(0);
    if (places == 1) return rounded(summands[0].value);
    const std::size_t half = std::min(places / 2, summands.size());
    return rounded(plus(tree_sum(model, summands.first(half), places / 2),
                        tree_sum(model, summands.subspan(half), places / 2)));
}

Value tree_step(const GemmModel& model, std::span<const Summand> summands,
                const Value& accumulator) {
    const Value products = tree_sum(model, summands, static_cast<std::size_t>(model.products));
    return flushed(model.accumulator,
                   rounded_value(model.accumulator, model.rounding, plus(accumulator, products)));
}

// Toward zero, to a multiple of 2^exponent.
Rational cut(const Value& value, int exponent) {
    const Rational units = value.magnitude / power_of_two(exponent);
    const Rational whole(whole_part(units));
    return with_sign({Value::Kind::finite, value.negative, whole * power_of_two(exponent)});
}

// To a multiple of 2^exponent, by any rounding that needs no random bits.
Rational cut(Rounding rounding, const Value& value, int exponent) {
    const Rational kept = cut(value, exponent), unit = power_of_two(exponent);
    const Rational dropped = value.magnitude - abs(kept), half = unit / Rational(2);
    const bool is_odd = whole_part(abs(kept) / unit) % 2 != 0;
    const bool is_more = dropped > half, is_half = dropped == half;
    if (dropped == 0) return kept;
    const bool away = rounding == Rounding::away_from_zero ||
                      (rounding == Rounding::toward_positive && !value.negative) ||
                      (rounding == Rounding::toward_negative && value.negative) ||
                      (rounding == Rounding::nearest_away && (is_more || is_half)) ||
                      (rounding == Rounding::nearest_even && (is_more || (is_half && is_odd))) ||
                      (rounding == Rounding::to_odd && !is_odd);
    if (!away) return kept;
    return value.negative ? kept - unit : kept + unit;
}

// Toward minus infinity, to a multiple of 2^exponent.
Rational floor_to(const Rational& value, int exponent) {
    const Rational unit = power_of_two(exponent);
    const Value sign = number(value);
    const Rational kept = cut(sign, exponent);
    return sign.negative && kept != value ? kept - unit : kept;
}

Value rounded_sum(const GemmModel& model, const Rational& sum) {
    const Value value = number(sum);
    const int beyond = model.accumulator.exponent_max() + 1;
    if (value.magnitude >= power_of_two(beyond)) return {Value::Kind::infinity, value.negative, 0};
    const Value rounded = rounded_value(model.accumulator, model.rounding, value);
    // What rounds to 0 in an aligned step, or is cut away below the smallest number, is +0.
    const bool is_positive =
        model.sum == StepSum::aligned || model.rounding == Rounding::toward_zero;
    return is_positive && is_zero(rounded) ? number(0) : rounded;
}

// A sum of aligned products, with the exponent that they were aligned to; none where all are zero.
struct AlignedSum {
    bool any = false;
    int exponent = 0;
    Rational sum = 0;
};

AlignedSum aligned_sum(const GemmModel& model, std::span<const Summand> summands, std::size_t first,
                       std::size_t apart) {
    AlignedSum aligned;
    for (std::size_t i = first; i < summands.size(); i += apart) {
        if (is_zero(summands[i].value) && model.zero_products == ZeroProducts::left_out) continue;
        aligned.exponent =
            aligned.any ? std::max(aligned.exponent, summands[i].exponent) : summands[i].exponent;
        aligned.any = true;
    }
    for (std::size_t i = first; i < summands.size(); i += apart)
        aligned.sum += cut(model.cut, summands[i].value, aligned.exponent - model.fraction_bits);
    return aligned;
}

AlignedSum even_and_odd(const GemmModel& model, std::span<const Summand> summands) {
    const AlignedSum even = aligned_sum(model, summands, 0, 2),
                     odd = aligned_sum(model, summands, 1, 2);
    if (!even.any || !odd.any) return even.any ? even : odd;
    const int larger = std::max(even.exponent, odd.exponent), unit = larger - model.fraction_bits;
    return {true, larger, floor_to(even.sum, unit) + floor_to(odd.sum, unit)};
}

// The products have been summed; what is kept of them beside the accumulator, and of that.
Value late_sum(const GemmModel& model, const AlignedSum& products, const Value& accumulator) {
    if (!products.any && is_zero(accumulator)) return number(0);
    int larger = products.exponent;
    if (!is_zero(accumulator)) {
        const int exponent = exponent_of(model.accumulator, accumulator);
        larger = products.any ? std::max(larger, exponent) : exponent;
    }
    const int unit = larger - model.fraction_bits;
    const bool is_far = model.sum == StepSum::even_and_odd &&
                        exponent_of(model.accumulator, accumulator) < unit - 1;
    const Rational signed_accumulator =
        accumulator.negative ? -accumulator.magnitude : accumulator.magnitude;
    Rational sum = floor_to(products.sum, larger - late_sum_bits);
    if (!is_far) sum += floor_to(signed_accumulator, unit);
    return sum == 0 ? number(0) : rounded_sum(model, sum);
}

Value late_step(const GemmModel& model, std::span<const Summand> summands,
                const Value& accumulator) {
    Value exact = accumulator;
    for (const Summand& summand : summands) {
        Value product = summand.value;
        if (product.is_finite() && product.magnitude >= power_of_two(128))
            product.kind = Value::Kind::infinity;
        exact = plus(exact, product);
    }
    if (!exact.is_finite()) return exact;
    return late_sum(model,
                    model.sum == StepSum::even_and_odd ? even_and_odd(model, summands)
                                                       : aligned_sum(model, summands, 0, 1),
                    accumulator);
}

// A sum in binary32 whose subnormals count as 0. It is one where it is less than the smallest
// normal number after its rounding to 24 bits, whatever the exponent: half of the 2^-150 that part
// such numbers is rounded up, as the significand of 2^-126 is even.
Value flushed_sum(const Value& left, const Value& right) {
    const Value exact = plus(left, right);
    const Rational rounded_up = power_of_two(-126) - power_of_two(-151);
    if (exact.is_finite() && exact.magnitude < rounded_up)
        return {Value::Kind::finite, exact.negative, 0};
    return rounded_value(formats::f32, Rounding::nearest_even, exact);
}

// The product at a place of a step; beyond the last one that of +0.
Value product_at(std::span<const Summand> summands, std::size_t place) {
    return place < summands.size() ? summands[place].value : number(0);
}

Value chain_step(std::span<const Summand> summands, const Value& accumulator) {
    const Value first = flushed_sum(flushed(formats::f32, accumulator), product_at(summands, 1));
    return flushed_sum(first, product_at(summands, 0));
}

// Factors of 8 bits are taken by four, wider ones by two.
Value lanes_step(std::span<const Summand> summands, int factor_bits, const Value& accumulator) {
    Value first = number(0), second = number(0);
    const std::size_t together = factor_bits > 8 ? 2 : 4;
    for (std::size_t k = 0; k < summands.size(); k += together) {
        const auto product = [&](std::size_t i) { return product_at(summands, k + i); };
        if (together == 2) {
            first = flushed_sum(first, product(0));
            second = flushed_sum(second, product(1));
        } else {
            first = flushed_sum(first, flushed_sum(product(0), product(1)));
            second = flushed_sum(second, flushed_sum(product(2), product(3)));
        }
    }
    return flushed_sum(flushed(formats::f32, accumulator), flushed_sum(first, second));
}

// As many products as the row says, with those of +0 beyond the last.
Value fused_sum(const GemmModel& model, std::span<const Summand> summands,
                const Value& accumulator) {
    Value exact = accumulator;
    for (std::size_t place = 0; place < static_cast<std::size_t>(model.products); ++place)
        exact = plus(exact, product_at(summands, place));
    return rounded_value(model.accumulator, model.rounding, exact);
}

Value rounded_to_odd(const Value& exact) {
    if (!exact.is_finite()) return exact;
    if (exact.magnitude >= power_of_two(128)) return {Value::Kind::infinity, exact.negative, 0};
    if (exact.magnitude == 0) return number(0);
    return rounded_value(formats::f32, Rounding::to_odd, exact);
}

Value alone_step(const GemmModel& model, std::span<const Summand> summands,
                 const Value& accumulator) {
    Value products = number(0);
    for (const Summand& summand : summands) products = plus(products, summand.value);
    if (products.is_finite())
        products = rounded_to_odd(number(aligned_sum(model, summands, 0, 1).sum));
    return rounded_to_odd(plus(products, accumulator));
}

// Steps of processors.
Value processor_step(const GemmModel& model, std::span<const Summand> summands, int factor_bits,
                     const Value& accumulator) {
    switch (model.sum) {
        case StepSum::fused:
            return fused_sum(model, summands, accumulator);
        case StepSum::chain_flushed:
            return chain_step(summands, accumulator);
        case StepSum::lanes_flushed:
            return lanes_step(summands, factor_bits, accumulator);
        default:
            return alone_step(model, summands, accumulator);
    }
}

bool is_of_processors(StepSum sum) {
    return sum == StepSum::fused || flushes_in_f32(sum) || sum == StepSum::products_alone;
}

// The inner accumulator, of products up to `k`, into the outer one.
Value promoted(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t k,
               const Value& outer, const Value& inner) {
    const auto rounded = [&](const Value& value) {
        return rounded_value(model.promoted, Rounding::nearest_even, value);
    };
    if (!scales_at_promotion(model.scaling)) return rounded(plus(outer, inner));
    const Value scale_a = decode(a.scale, a.scale_at(k)), scale_b = decode(b.scale, b.scale_at(k));
    if (model.scaling == BlockScaling::promoted_in_turn)
        return rounded(plus(outer, rounded(times(rounded(times(inner, scale_b)), scale_a))));
    const Value product = model.scaling == BlockScaling::promoted_a_first
                              ? times(rounded(times(inner, scale_a)), scale_b)
                              : times(inner, rounded(times(scale_a, scale_b)));
    return rounded(plus(outer, product));
}

}  // namespace

Value step(const GemmModel& model, std::span<const Summand> summands, const Value& accumulator) {
    if (model.sum == StepSum::pairs_flushed) return tree_step(model, summands, accumulator);
    if (model.sum != StepSum::aligned) return late_step(model, summands, accumulator);
    Value exact = accumulator;
    for (const Summand& summand : summands) exact = plus(exact, summand.value);
    if (!exact.is_finite()) return exact;
    if (model.fraction_bits == all_bits && model.products > 1 && is_zero(exact)) return number(0);
    if (model.fraction_bits == all_bits)
        return rounded_value(model.accumulator, model.rounding, exact);
    std::vector<Summand> aligned;
    for (const Summand& summand : summands)
        if (!is_zero(summand.value) || model.zero_products == ZeroProducts::counted)
            aligned.push_back(summand);
    if (!is_zero(accumulator))
        aligned.push_back({accumulator, exponent_of(model.accumulator, accumulator)});
    if (aligned.empty()) return number(0);
    const auto lower = [](const Summand& x, const Summand& y) { return x.exponent < y.exponent; };
    const int largest = std::max(std::max_element(aligned.begin(), aligned.end(), lower)->exponent,
                                 model.exponent_floor);
    Rational sum = 0;
    for (const Summand& summand : aligned)
        sum += cut(model.cut, summand.value, largest - model.fraction_bits);
    return sum == 0 ? number(0) : rounded_sum(model, sum);
}

namespace {

// In the order of k, from its beginning on.
Value accumulate_in_order(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, const Value& c) {
    const std::int64_t per_step = std::int64_t{model.products} * model.exact_group;
    const bool is_flushed = model.sum == StepSum::pairs_flushed;
    Value outer = is_flushed ? flushed_input(model.accumulator, c) : c;
    Value inner = model.promotion == 0 ? outer : number(0);
    // Whole groups of 32 where products are not taken in order, so that each has its step.
    const std::int64_t end = model.order == ProductOrder::along_k ? depth : (depth + 31) / 32 * 32;
    for (std::int64_t first = 0; first < end; first += per_step) {
        const std::vector<Summand> summands = summands_of(model, a, b, first, depth);
        inner = is_of_processors(model.sum)
                    ? processor_step(model, summands, a.element.code_bits(), inner)
                    : step(model, summands, inner);
        const std::int64_t done = std::min(end, first + per_step);
        if (model.promotion == 0 || (done % model.promotion != 0 && done != end)) continue;
        outer = promoted(model, a, b, std::min(done, depth) - 1, outer, inner);
        inner = number(0);
    }
    return model.promotion == 0 ? inner : outer;
}

Value sum_of_two(const ElementFormat& format, const Value& left, const Value& right) {
    return rounded_value(format, Rounding::nearest_even, plus(left, right));
}

// The products k with k % lanes == lane, promoted at the same k as those of all lanes.
Value lane_sum(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
               std::int64_t lane) {
    Value outer = number(0);
    const std::int64_t length = model.promotion == 0 ? depth : model.promotion;
    for (std::int64_t first = 0; first < depth; first += length) {
        Value inner = number(0);
        for (std::int64_t k = first; k < std::min(depth, first + length); ++k)
            if (k % model.lanes == lane)
                inner = step(model, summands_of(model, a, b, k, depth), inner);
        outer = sum_of_two(model.promoted, outer, inner);
    }
    return outer;
}

}  // namespace

Value accumulate(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                 const Value& c) {
    if (model.lanes > 1) {
        Value sum = c;
        for (std::int64_t lane = 0; lane < std::min<std::int64_t>(model.lanes, depth); ++lane)
            sum = sum_of_two(model.accumulator, sum, lane_sum(model, a, b, depth, lane));
        return sum;
    }
    const std::int64_t residue = residue_of(model, depth);
    const Value before = residue == 0 ? c : accumulate_in_order(model, a, b, residue, c);
    return accumulate_in_order(model, a.from(residue), b.from(residue), depth - residue, before);
}

Value accumulate_in_parts(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, std::int64_t part) {
    Value sum = number(0);
    for (std::int64_t first = 0; first < depth; first += part) {
        const Value of_part = accumulate(model, a.from(first), b.from(first),
                                         std::min(part, depth - first), number(0));
        sum = sum_of_two(formats::f32, sum, of_part);
    }
    return sum;
}

TimesAlpha::TimesAlpha(const ScaledRow& row, std::int64_t depth, const Value& alpha) {
    for (std::int64_t k = 0; k < depth; ++k)
        codes_.push_back(round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                               times(decode(row.element, row.codes.at(k)), alpha))
                             .bits);
}

ScaledRow TimesAlpha::row() const {
    return {formats::f32, {reinterpret_cast<const std::uint8_t*>(codes_.data()), 4, 1}};
}

}  // namespace mx::exact
