// The steps of AMD's machines: a tree whose every number is rounded and flushed, and sums of even
// and of odd k that meet before the accumulator does. Bugs of these are planted here. Shares no
// line with reference/.
#pragma once

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <span>

#include "conformance/mutants/gemm/gemm_dot.hpp"

namespace mx::mutants::gemm {

inline Number number_of_f32(float x) {
    return number_of(std::bit_cast<std::uint32_t>(x), f32);
}

// What is subnormal is the 0 of its sign.
inline float flushed(float x) {
    const bool is_subnormal = std::fabs(x) < FLT_MIN && !has(Bug::subnormals_not_flushed);
    return is_subnormal ? std::copysign(0.0f, x) : x;
}

// A factor that is subnormal is +0.
inline Number flushed_factor(const Number& number, const Format& format) {
    const bool is_subnormal = number.kind == Kind::finite &&
                              number.significand >> format.mantissa_bits == 0 &&
                              !has(Bug::subnormals_not_flushed);
    return is_subnormal ? Number{} : number;
}

inline float tree_of(std::span<const float> terms, std::size_t places) {
    if (terms.empty()) return 0;
    if (places == 1) return terms[0];
    std::size_t half = std::min(places / 2, terms.size());
    if (has(Bug::odd_tree_pairs_late) && terms.size() == 3) half = 1;
    return flushed(tree_of(terms.first(half), places / 2) +
                   tree_of(terms.subspan(half), places / 2));
}

inline float one_after_another(std::span<const float> terms, float sum) {
    for (const float term : terms) sum = flushed(sum + term);
    return sum;
}

inline Number tree_step(const Machine& machine, const Numbers& products,
                        const Number& accumulator) {
    constexpr std::size_t most = 4;
    std::array<float, most> all{};
    const std::size_t count = std::min(products.size(), most);
    for (std::size_t i = 0; i < count; ++i) all[i] = flushed(value_of(products[i]));
    const std::span<const float> terms(all.data(), count);
    const float sum = value_of(accumulator);
    if (has(Bug::tree_as_chain) && count > 1)
        return number_of_f32(flushed(sum + one_after_another(terms.subspan(1), terms[0])));
    if (has(Bug::accumulator_first_in_tree)) return number_of_f32(one_after_another(terms, sum));
    return number_of_f32(flushed(sum + tree_of(terms, static_cast<std::size_t>(machine.products))));
}

// In units of 2^(exponent - fraction_bits).
struct PartialSum {
    bool is_any = false;
    int exponent = 0;
    double units = 0;
};

// Of the products first, first + apart and so on.
inline PartialSum partial_sum(const Machine& machine, const Numbers& products, std::size_t first,
                              std::size_t end, std::size_t apart) {
    PartialSum part;
    for (std::size_t i = first; i < end; i += apart) {
        if (products[i].significand == 0) continue;
        part.exponent =
            part.is_any ? std::max(part.exponent, products[i].exponent) : products[i].exponent;
        part.is_any = true;
    }
    for (std::size_t i = first; i < end; i += apart)
        part.units += static_cast<double>(cut(products[i], part.exponent - machine.fraction_bits));
    return part;
}

// A number of units of 2^from in whole units of 2^to, toward minus infinity.
inline double floored(double units, int from, int to) {
    return std::floor(std::ldexp(units, from - to));
}

inline PartialSum together(const Machine& machine, const PartialSum& x, const PartialSum& y) {
    if (!x.is_any || !y.is_any) return x.is_any ? x : y;
    const int bits = machine.fraction_bits, larger = std::max(x.exponent, y.exponent);
    return {true, larger,
            floored(x.units, x.exponent - bits, larger - bits) +
                floored(y.units, y.exponent - bits, larger - bits)};
}

inline PartialSum sum_of_parts(const Machine& machine, const Numbers& products) {
    const std::size_t count = products.size();
    const std::size_t half = std::min(static_cast<std::size_t>(machine.products) / 2, count);
    if (has(Bug::halves_for_even_and_odd))
        return together(machine, partial_sum(machine, products, 0, half, 1),
                        partial_sum(machine, products, half, count, 1));
    return together(machine, partial_sum(machine, products, 0, count, 2),
                    partial_sum(machine, products, 1, count, 2));
}

// The products keep 31 bits below the larger exponent, the accumulator as many as a product.
inline Number even_and_odd_step(const Machine& machine, const Numbers& products,
                                const Number& accumulator) {
    constexpr int kept_late = 31, least = -126;
    const float before = value_of(accumulator);
    float special = before;
    for (const Number& product : products) special += value_of(product);
    if (!std::isfinite(special)) return number_of_f32(special);
    const PartialSum sum = sum_of_parts(machine, products);
    if (!sum.is_any && before == 0) return {};
    const int own = before == 0 ? least : std::max(std::ilogb(before), least);
    int larger = sum.is_any ? sum.exponent : own;
    if (before != 0) larger = std::max(larger, own);
    const int unit = larger - machine.fraction_bits;
    double total =
        std::ldexp(floored(sum.units, sum.exponent - machine.fraction_bits, larger - kept_late),
                   larger - kept_late);
    if (own >= unit - 1) total += std::ldexp(floored(static_cast<double>(before), 0, unit), unit);
    return total == 0 ? Number{} : number_of_f32(static_cast<float>(total));
}

}  // namespace mx::mutants::gemm
