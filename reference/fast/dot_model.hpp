// What a modelled machine makes of a dot product, in integers; fit for a GPU.
// Proved by reference/proof/prove_dot_model.cpp.
//
// Such a step drops what lies below 2^(E - F), E the largest exponent among its summands:
//
//   product  1.xxxxxx 2^E         |1xxxxxx000|          significands are integers; a shift puts
//   product  1.xxxxxx 2^(E-4)     |00001xxxxx|x         each in units of 2^(E - F), toward zero
//   accumulator 1.xx..            |0000001xxx|xxxx
//                                  F + 1 places
#pragma once

#include <cstdint>

#include "reference/fast/dot.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx::fast {

// A summand of one step and the exponent that it is aligned by.
struct Summand {
    Unpacked value;
    int exponent;
};

// The exponent that a machine reads from the fields of a number.
MX_FOLDED constexpr int exponent_of(const ElementFormat& format, const Unpacked& value) {
    const int least = format.exponent_min();
    if (value.significand == 0) return least;
    const int exponent = value.exponent + bit_width(value.significand) - 1;
    return exponent > least ? exponent : least;
}

// What a machine that knows no subnormals takes for 0: the 0 of its sign.
MX_FOLDED constexpr Unpacked flushed(const ElementFormat& format, Unpacked value) {
    if (value.significand == 0) return value;
    const int leading = value.exponent + bit_width(value.significand) - 1;
    if (leading < format.exponent_min()) value.significand = 0;
    return value;
}

// The same of what comes from outside: +0.
MX_FOLDED constexpr Unpacked flushed_input(const ElementFormat& format, const Unpacked& value) {
    const Unpacked kept = flushed(format, value);
    return is_zero(kept) ? Unpacked{} : kept;
}

// A factor as dequantising it to bfloat16 makes it.
MX_FOLDED constexpr Unpacked dequantised(const ScaledRow& row, std::int64_t k) {
    constexpr ElementFormat bf16 = formats::bf16;
    const Unpacked code = unpack(row.element, row.codes.at(k));
    return rounded_in(bf16, exact_product(code, unpack(row.scale, row.scale_at(k))));
}

MX_FOLDED constexpr Summand dequantised_product(const ScaledRow& a, const ScaledRow& b,
                                                std::int64_t k) {
    constexpr ElementFormat bf16 = formats::bf16;
    const Unpacked x = dequantised(a, k), y = dequantised(b, k);
    return {exact_product(x, y), exponent_of(bf16, x) + exponent_of(bf16, y)};
}

// What a processor takes a factor for: the format it is converted to first decides what is
// subnormal.
MX_FOLDED constexpr Unpacked processor_factor(const GemmModel& model, const Unpacked& value) {
    constexpr ElementFormat f16 = formats::f16, f32 = formats::f32;
    return flushed(model.exponents == FactorExponents::own ? f32 : f16, value);
}

MX_FOLDED constexpr Summand product_of(const GemmModel& model, const ScaledRow& a,
                                       const ScaledRow& b, std::int64_t k) {
    if (model.scaling == BlockScaling::dequantised) return dequantised_product(a, b, k);
    Unpacked x = unpack(a.element, a.codes.at(k)), y = unpack(b.element, b.codes.at(k));
    if (flushes_in_f32(model.sum)) {
        x = processor_factor(model, x);
        y = processor_factor(model, y);
    }
    if (model.sum == StepSum::pairs_flushed) {
        x = flushed_input(a.element, x);
        y = flushed_input(b.element, y);
    }
    const bool own = model.exponents == FactorExponents::own;
    constexpr ElementFormat f16 = formats::f16;
    Summand product{exact_product(x, y),
                    exponent_of(own ? a.element : f16, x) + exponent_of(own ? b.element : f16, y)};
    if (model.scaling != BlockScaling::product_exponent) return product;
    const Unpacked scale =
        exact_product(unpack(a.scale, a.scale_at(k)), unpack(b.scale, b.scale_at(k)));
    product.value = exact_product(product.value, scale);
    product.exponent += scale.exponent;
    return product;
}

// All products of a group in units of the smallest. FP4 and FP6: they fit in 64 bits.
MX_FOLDED constexpr Unpacked group_sum(const ScaledRow& a, const ScaledRow& b, std::int64_t first,
                                       std::int64_t end) {
    const int unit = a.element.quantum_exponent_min() + b.element.quantum_exponent_min();
    std::int64_t sum = 0;
    for (std::int64_t k = first; k < end; ++k) {
        const Unpacked product =
            exact_product(unpack(a.element, a.codes.at(k)), unpack(b.element, b.codes.at(k)));
        const auto units =
            static_cast<std::int64_t>(product.significand << (product.exponent - unit));
        sum += product.negative ? -units : units;
    }
    return {Kind::finite, sum < 0, unit, static_cast<std::uint64_t>(sum < 0 ? -sum : sum)};
}

MX_FOLDED constexpr Summand group_of(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                                     std::int64_t first, std::int64_t depth) {
    const std::int64_t whole = first + model.exact_group;
    const Unpacked x = unpack(a.scale, a.scale_at(first)), y = unpack(b.scale, b.scale_at(first));
    const Unpacked sum = group_sum(a, b, first, whole < depth ? whole : depth);
    return {exact_product(sum, exact_product(x, y)),
            exponent_of(a.scale, x) + exponent_of(b.scale, y)};
}

// As exact::place_in_order: of every four of 32 neighbours, two belong to the first step of 16.
MX_FOLDED constexpr std::int64_t place_in_order(ProductOrder order, std::int64_t index) {
    if (order == ProductOrder::along_k) return index;
    return (index & ~std::int64_t{31}) + (index << 1 & 28) + (index >> 3 & 2) + (index & 1);
}

// What a step has seen so far: NaN, infinities, and the largest exponent.
struct Survey {
    bool nan = false;
    bool positive_infinity = false;
    bool negative_infinity = false;
    bool any = false;
    int exponent = 0;
};

MX_FOLDED constexpr void note(Survey& survey, const Summand& summand, ZeroProducts zeros) {
    const Unpacked& value = summand.value;
    survey.nan |= value.kind == Kind::nan;
    if (value.kind == Kind::infinity)
        (value.negative ? survey.negative_infinity : survey.positive_infinity) = true;
    if (value.kind != Kind::finite) return;
    if (value.significand == 0 && zeros == ZeroProducts::left_out) return;
    if (!survey.any || summand.exponent > survey.exponent) survey.exponent = summand.exponent;
    survey.any = true;
}

// In units of 2^unit, toward zero.
MX_FOLDED constexpr std::int64_t cut(const Unpacked& value, int unit) {
    const int shift = value.exponent - unit;
    const std::uint64_t kept = shift >= 0    ? value.significand << (shift < 63 ? shift : 63)
                               : shift > -64 ? value.significand >> -shift
                                             : 0;
    const auto units = static_cast<std::int64_t>(kept);
    return value.negative ? -units : units;
}

// The same with what is dropped rounded as the row has it: one unit more in magnitude, or not.
//
//   |kept|x yyyy|     x is half a unit, the rest below it anything
MX_FOLDED constexpr std::int64_t cut(Rounding rounding, const Unpacked& value, int unit) {
    const std::int64_t units = cut(value, unit);
    const int shift = unit - value.exponent;
    if (rounding == Rounding::toward_zero || value.significand == 0 || shift <= 0) return units;
    const std::uint64_t kept = shift < 64 ? value.significand >> shift : 0;
    if (shift < 64 && kept << shift == value.significand) return units;
    const bool half = shift <= 64 && (value.significand >> (shift - 1) & 1) != 0;
    const bool is_tie = half && (value.significand & ((std::uint64_t{1} << (shift - 1)) - 1)) == 0;
    const bool grows = rounding == Rounding::nearest_even      ? half && (!is_tie || kept % 2 != 0)
                       : rounding == Rounding::to_odd          ? kept % 2 == 0
                       : rounding == Rounding::nearest_away    ? half
                       : rounding == Rounding::toward_negative ? value.negative
                       : rounding == Rounding::toward_positive ? !value.negative
                                                               : true;
    if (!grows) return units;
    return value.negative ? units - 1 : units + 1;
}

MX_FOLDED constexpr Unpacked rounded_sum(const GemmModel& model, std::int64_t sum, int unit) {
    if (sum == 0) return {Kind::finite, false, 0, 0};
    const bool negative = sum < 0;
    const auto magnitude = static_cast<std::uint64_t>(negative ? -sum : sum);
    if (bit_width(magnitude) + unit > model.accumulator.exponent_max() + 1)
        return {Kind::infinity, negative, 0, 0};
    Unpacked value =
        unpack(model.accumulator, round(model.accumulator, model.rounding, Overflow::overflow,
                                        {Kind::finite, negative, unit, magnitude}));
    // What rounds to 0 in an aligned step is +0: measured on an H200 with bfloat16, toward zero,
    // and with an accumulator of binary16, to nearest even.
    const bool is_aligned = model.sum == StepSum::aligned;
    if ((is_aligned || model.rounding == Rounding::toward_zero) && is_zero(value))
        value.negative = false;
    return value;
}

// The places of a step.
struct StepRange {
    std::int64_t first;
    std::int64_t depth;
};

// Summand i of the step; false where it lies beyond the end.
MX_FOLDED_INTO_STEPS constexpr bool summand_at(const GemmModel& model, const ScaledRow& a,
                                               const ScaledRow& b, StepRange range, int i,
                                               Summand& summand) {
    const std::int64_t k =
        place_in_order(model.order, range.first + std::int64_t{i} * model.exact_group);
    if (k >= range.depth) return false;
    summand = model.scaling == BlockScaling::group ? group_of(model, a, b, k, range.depth)
                                                   : product_of(model, a, b, k);
    return true;
}

MX_HOST_DEVICE constexpr Unpacked step(const GemmModel& model, const ScaledRow& a,
                                       const ScaledRow& b, StepRange range,
                                       const Unpacked& accumulator) {
    Survey survey;
    Summand summand{};
    for (int i = 0; i < model.products; ++i)
        if (summand_at(model, a, b, range, i, summand)) note(survey, summand, model.zero_products);
    note(survey, {accumulator, exponent_of(model.accumulator, accumulator)},
         ZeroProducts::left_out);
    if (survey.nan || (survey.positive_infinity && survey.negative_infinity))
        return {Kind::nan, false, 0, 0};
    if (survey.positive_infinity || survey.negative_infinity)
        return {Kind::infinity, survey.negative_infinity, 0, 0};
    if (!survey.any) return {Kind::finite, false, 0, 0};
    const int unit =
        (survey.exponent > model.exponent_floor ? survey.exponent : model.exponent_floor) -
        model.fraction_bits;
    std::int64_t sum = cut(model.cut, accumulator, unit);
    for (int i = 0; i < model.products; ++i)
        if (summand_at(model, a, b, range, i, summand)) sum += cut(model.cut, summand.value, unit);
    return rounded_sum(model, sum, unit);
}

// As exact::step where nothing is cut of several products: the exact sum, rounded once.
MX_HOST_DEVICE constexpr Unpacked exact_step(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, StepRange range,
                                             const Unpacked& accumulator) {
    constexpr Unpacked one{Kind::finite, false, 0, 1};
    Total total;
    Summand summand{};
    add_product(total, accumulator, one);
    for (int i = 0; i < model.products; ++i)
        if (summand_at(model, a, b, range, i, summand)) add_product(total, summand.value, one);
    return unpack(model.accumulator,
                  round_total(model.accumulator, model.rounding, Overflow::overflow, total));
}

constexpr int tree_products_max = 8;

// As exact::step of a tree: `length` sums lie side by side, and neighbours are added until one is
// left.
MX_HOST_DEVICE constexpr Unpacked tree_step(const GemmModel& model, const ScaledRow& a,
                                            const ScaledRow& b, StepRange range,
                                            const Unpacked& accumulator) {
    const ElementFormat& format = model.accumulator;
    Unpacked sums[tree_products_max] = {};
    Summand summand{};
    for (int i = 0; i < model.products; ++i)
        if (summand_at(model, a, b, range, i, summand))
            sums[i] = flushed(format, rounded_in(format, summand.value));
    for (int length = model.products; length > 1; length /= 2)
        for (int i = 0; i < length / 2; ++i)
            sums[i] = flushed(format, sum_in(format, sums[2 * i], sums[2 * i + 1]));
    return flushed(format, sum_in(format, accumulator, sums[0]));
}

// A sum of aligned products in units of 2^(exponent - fraction_bits).
struct AlignedSum {
    bool any = false;
    int exponent = 0;
    std::int64_t units = 0;
};

// Of every `apart`th product of the step from `first` on.
MX_HOST_DEVICE constexpr AlignedSum aligned_sum(const GemmModel& model, const ScaledRow& a,
                                                const ScaledRow& b, StepRange range, int first,
                                                int apart) {
    Survey survey;
    Summand summand{};
    for (int i = first; i < model.products; i += apart)
        if (summand_at(model, a, b, range, i, summand)) note(survey, summand, model.zero_products);
    AlignedSum aligned{survey.any, survey.exponent, 0};
    for (int i = first; survey.any && i < model.products; i += apart)
        if (summand_at(model, a, b, range, i, summand))
            aligned.units += cut(summand.value, survey.exponent - model.fraction_bits);
    return aligned;
}

// `units` moved by 2^exponent, down toward minus infinity.
MX_FOLDED constexpr std::int64_t moved(std::int64_t units, int exponent) {
    if (exponent >= 0) return units * (std::int64_t{1} << (exponent < 40 ? exponent : 40));
    return units >> (exponent > -63 ? -exponent : 63);
}

// A number in units of 2^unit, toward minus infinity.
MX_FOLDED constexpr std::int64_t floor_to(const Unpacked& value, int unit) {
    const std::int64_t units = cut(value, unit);
    const int shift = unit - value.exponent;
    const bool is_whole = shift <= 0 || value.significand == 0 ||
                          (shift < 64 && value.significand >> shift << shift == value.significand);
    return value.negative && !is_whole ? units - 1 : units;
}

// As exact::late_step: what special values there are; a product of 2^128 and beyond is Inf.
MX_HOST_DEVICE constexpr Survey survey_late(const GemmModel& model, const ScaledRow& a,
                                            const ScaledRow& b, StepRange range,
                                            const Unpacked& accumulator) {
    Survey survey;
    Summand summand{};
    note(survey, {accumulator, 0}, ZeroProducts::left_out);
    for (int i = 0; i < model.products; ++i) {
        if (!summand_at(model, a, b, range, i, summand)) continue;
        Unpacked& value = summand.value;
        const bool is_beyond = value.kind == Kind::finite && value.significand != 0 &&
                               value.exponent + bit_width(value.significand) > 128;
        if (is_beyond) value.kind = Kind::infinity;
        note(survey, summand, model.zero_products);
    }
    return survey;
}

MX_HOST_DEVICE constexpr AlignedSum products_of_step(const GemmModel& model, const ScaledRow& a,
                                                     const ScaledRow& b, StepRange range) {
    if (model.sum == StepSum::products_first) return aligned_sum(model, a, b, range, 0, 1);
    const AlignedSum even = aligned_sum(model, a, b, range, 0, 2),
                     odd = aligned_sum(model, a, b, range, 1, 2);
    if (!even.any || !odd.any) return even.any ? even : odd;
    const int larger = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    return {true, larger,
            moved(even.units, even.exponent - larger) + moved(odd.units, odd.exponent - larger)};
}

// As exact::late_step. In units of 2^(E - 31), E the larger exponent:
//
//   sum of products   |sxxxxxxxxxxxxxxxx|xxx       kept down to 31 below E
//   accumulator       |sxxxxxxxxxxxx0000|          kept down to fraction_bits below E
MX_HOST_DEVICE constexpr Unpacked late_step(const GemmModel& model, const ScaledRow& a,
                                            const ScaledRow& b, StepRange range,
                                            const Unpacked& accumulator) {
    const Survey survey = survey_late(model, a, b, range, accumulator);
    if (survey.nan || (survey.positive_infinity && survey.negative_infinity))
        return {Kind::nan, false, 0, 0};
    if (survey.positive_infinity || survey.negative_infinity)
        return {Kind::infinity, survey.negative_infinity, 0, 0};
    const AlignedSum products = products_of_step(model, a, b, range);
    const int own = exponent_of(model.accumulator, accumulator);
    const bool is_own_larger =
        accumulator.significand != 0 && (!products.any || own > products.exponent);
    const int larger = is_own_larger ? own : products.exponent;
    const int between = late_sum_bits - model.fraction_bits;
    std::int64_t units = moved(products.units, products.exponent - larger + between);
    const bool is_far =
        model.sum == StepSum::even_and_odd && own < larger - model.fraction_bits - 1;
    if (!is_far)
        units += floor_to(accumulator, larger - model.fraction_bits) * (std::int64_t{1} << between);
    return rounded_sum(model, units, larger - late_sum_bits);
}

// Both in units of 2^64 less, where binary32 has no lower end near.
MX_FOLDED constexpr Unpacked sum_far_above(Unpacked left, Unpacked right) {
    left.exponent += 64;
    right.exponent += 64;
    return sum(left, right);
}

// As exact::flushed_sum: what is less than 2^-126 after its rounding to 24 bits.
MX_HOST_DEVICE constexpr Unpacked flushed_sum(const Unpacked& left, const Unpacked& right) {
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked made = sum(left, right);
    if (made.kind != Kind::finite || made.significand == 0) return made;
    const int least = f32.exponent_min();
    if (made.exponent + bit_width(made.significand) - 1 > least) return made;
    const Unpacked above = sum_far_above(left, right);
    const bool is_tiny = above.exponent + bit_width(above.significand) - 1 < least + 64;
    return is_tiny ? Unpacked{Kind::finite, made.negative, 0, 0} : made;
}

// The product at a place of a step; that of +0 beyond the end.
MX_FOLDED constexpr Unpacked product_or_zero(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, StepRange range, int i) {
    Summand summand{};
    return summand_at(model, a, b, range, i, summand) ? summand.value : Unpacked{};
}

// As exact::chain_step.
MX_HOST_DEVICE constexpr Unpacked chain_step(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, StepRange range,
                                             const Unpacked& accumulator) {
    constexpr ElementFormat f32 = formats::f32;
    Unpacked sum = flushed(f32, accumulator);
    for (int i = model.products; i-- > 0;)
        sum = flushed_sum(product_or_zero(model, a, b, range, i), sum);
    return sum;
}

// As exact::lanes_step. Two factors of 16 bits fill 32 bits, or four of 8:
//
//   k       |0|1|   |0 1|2 3|
//   sum     |a|b|   |a  |b  |
MX_HOST_DEVICE constexpr Unpacked lanes_step(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, StepRange range,
                                             const Unpacked& accumulator) {
    constexpr ElementFormat f32 = formats::f32;
    const int half = a.element.code_bits() > 8 ? 1 : 2;
    Unpacked lanes[2] = {};
    for (int i = 0; i < model.products && range.first + i / (2 * half) * (2 * half) < range.depth;
         i += half) {
        Unpacked part = product_or_zero(model, a, b, range, i);
        if (half == 2) part = flushed_sum(part, product_or_zero(model, a, b, range, i + 1));
        Unpacked& lane = lanes[i / half % 2];
        lane = flushed_sum(part, lane);
    }
    return flushed_sum(flushed(f32, accumulator), flushed_sum(lanes[0], lanes[1]));
}

// As exact::fused_sum.
MX_HOST_DEVICE constexpr Unpacked fused_sum(const GemmModel& model, const ScaledRow& a,
                                            const ScaledRow& b, StepRange range,
                                            const Unpacked& accumulator) {
    constexpr Unpacked one{Kind::finite, false, 0, 1};
    Total total;
    add_product(total, accumulator, one);
    bool has_positive = !accumulator.negative;
    bool has_more = !is_zero(accumulator);
    for (int i = 0; i < model.products; ++i) {
        const Unpacked product = product_or_zero(model, a, b, range, i);
        add_product(total, product, one);
        has_positive = has_positive || !product.negative;
        has_more = has_more || !is_zero(product);
    }
    if (!has_positive && !has_more) return {Kind::finite, true, 0, 0};
    return unpack(model.accumulator,
                  round_total(model.accumulator, model.rounding, Overflow::overflow, total));
}

// As exact::alone_step. The sum of the products is made as if there were no accumulator.
MX_HOST_DEVICE constexpr Unpacked alone_step(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, StepRange range,
                                             const Unpacked& accumulator) {
    constexpr Unpacked one{Kind::finite, false, 0, 1};
    Total total;
    add_product(total, step(model, a, b, range, {}), one);
    add_product(total, accumulator, one);
    if (kind_of(total) == Kind::finite) {
        const Unpacked exact = leading_bits(total.sum);
        const int beyond = model.accumulator.exponent_max() + 1;
        if (exact.significand != 0 && exact.exponent + bit_width(exact.significand) > beyond)
            return {Kind::infinity, exact.negative, 0, 0};
    }
    return unpack(model.accumulator,
                  round_total(model.accumulator, model.rounding, Overflow::overflow, total));
}

// A step of one product that nothing is cut from: a fused multiply-add of both factors, which the
// scales of MX and NVFP4 leave short.
MX_HOST_DEVICE constexpr Unpacked fused_step(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, std::int64_t k,
                                             const Unpacked& accumulator) {
    Unpacked x = unpack(a.element, a.codes.at(k)), y = unpack(b.element, b.codes.at(k));
    if (model.scaling == BlockScaling::product_exponent) {
        x = exact_product(x, unpack(a.scale, a.scale_at(k)));
        y = exact_product(y, unpack(b.scale, b.scale_at(k)));
    }
    return fused_multiply_add(x, y, accumulator);
}

// The inner accumulator, of products up to `k`, into the outer one.
MX_HOST_DEVICE constexpr Unpacked promoted(const GemmModel& model, const ScaledRow& a,
                                           const ScaledRow& b, std::int64_t k,
                                           const Unpacked& outer, const Unpacked& inner) {
    if (!scales_at_promotion(model.scaling)) return sum_in(model.promoted, outer, inner);
    const Unpacked scale_a = unpack(a.scale, a.scale_at(k));
    const Unpacked scale_b = unpack(b.scale, b.scale_at(k));
    if (model.scaling == BlockScaling::promoted_in_turn)
        return sum_in(model.promoted, outer, product(product(inner, scale_b), scale_a));
    return model.scaling == BlockScaling::promoted_a_first
               ? fused_multiply_add(product(inner, scale_a), scale_b, outer)
               : fused_multiply_add(inner, product(scale_a, scale_b), outer);
}

// As exact::accumulate, with steps that another function takes: step(range, accumulator).
template <typename Step>
MX_HOST_DEVICE constexpr Unpacked accumulate_by(const Step& step, const GemmModel& model,
                                                const ScaledRow& a, const ScaledRow& b,
                                                std::int64_t depth, const Unpacked& c) {
    const std::int64_t per_step = std::int64_t{model.products} * model.exact_group;
    Unpacked outer = c;
    Unpacked inner = model.promotion == 0 ? c : Unpacked{};
    const std::int64_t residue = residue_of(model, depth);
    for (std::int64_t first = 0; first < residue; first += per_step)
        inner = step(StepRange{first, residue}, inner);
    const std::int64_t end = model.order == ProductOrder::along_k ? depth : (depth + 31) / 32 * 32;
    for (std::int64_t first = residue; first < end; first += per_step) {
        inner = step(StepRange{first, depth}, inner);
        const std::int64_t done = first + per_step < end ? first + per_step : end;
        if (model.promotion == 0 || (done % model.promotion != 0 && done != end)) continue;
        outer = promoted(model, a, b, (done < depth ? done : depth) - 1, outer, inner);
        inner = {};
    }
    return model.promotion == 0 ? inner : outer;
}

// As exact::accumulate, of sums beside each other.
template <typename Step>
MX_HOST_DEVICE constexpr Unpacked accumulate_lanes(const Step& step, const GemmModel& model,
                                                   std::int64_t depth, const Unpacked& c) {
    Unpacked total = c;
    for (std::int64_t lane = 0; lane < model.lanes && lane < depth; ++lane) {
        Unpacked outer, inner;
        for (std::int64_t k = lane, next = k + model.lanes; k < depth;
             k = next, next += model.lanes) {
            inner = step(StepRange{k, depth}, inner);
            const bool is_promoted =
                model.promotion != 0 && next / model.promotion != k / model.promotion;
            if (!is_promoted && next < depth) continue;
            outer = sum_in(model.promoted, outer, inner);
            inner = {};
        }
        total = sum(total, outer);
    }
    return total;
}

// As exact::accumulate.
MX_HOST_DEVICE constexpr Unpacked accumulate(const GemmModel& model, const ScaledRow& a,
                                             const ScaledRow& b, std::int64_t depth,
                                             const Unpacked& c) {
    const auto one_step = [&](StepRange range, const Unpacked& accumulator) {
        if (model.sum == StepSum::pairs_flushed) return tree_step(model, a, b, range, accumulator);
        if (model.sum == StepSum::fused) return fused_sum(model, a, b, range, accumulator);
        if (model.sum == StepSum::chain_flushed) return chain_step(model, a, b, range, accumulator);
        if (model.sum == StepSum::lanes_flushed) return lanes_step(model, a, b, range, accumulator);
        if (model.sum == StepSum::products_alone)
            return alone_step(model, a, b, range, accumulator);
        if (model.sum != StepSum::aligned) return late_step(model, a, b, range, accumulator);
        if (model.fraction_bits != all_bits) return step(model, a, b, range, accumulator);
        return model.products == 1 ? fused_step(model, a, b, range.first, accumulator)
                                   : exact_step(model, a, b, range, accumulator);
    };
    if (model.lanes > 1) return accumulate_lanes(one_step, model, depth, c);
    const bool is_flushed = model.sum == StepSum::pairs_flushed;
    return accumulate_by(one_step, model, a, b, depth,
                         is_flushed ? flushed_input(model.accumulator, c) : c);
}

// The sums of parts of k, added up in binary32: accumulate(first, count) is that of one. A part of
// 0 is the whole.
template <typename Accumulate>
MX_FOLDED constexpr Unpacked sum_of_parts(std::int64_t depth, std::int64_t part,
                                          const Accumulate& accumulate) {
    if (part == 0) return accumulate(std::int64_t{0}, depth);
    Unpacked total;
    for (std::int64_t first = 0; first < depth; first += part)
        total = sum(total, accumulate(first, part < depth - first ? part : depth - first));
    return total;
}

// As exact::accumulate_in_parts.
MX_HOST_DEVICE constexpr Unpacked accumulate_in_parts(const GemmModel& model, const ScaledRow& a,
                                                      const ScaledRow& b, std::int64_t depth,
                                                      std::int64_t part) {
    return sum_of_parts(depth, part, [&](std::int64_t first, std::int64_t count) {
        return accumulate(model, a.from(first), b.from(first), count, {});
    });
}

}  // namespace mx::fast
