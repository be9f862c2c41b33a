// The dot products of a GEMM in integers, exact until the one rounding at the end.
// Proved by reference/proof/prove_dot.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/f32_arithmetic.hpp"
#include "reference/fast/wide_sum.hpp"
#include "reference/spec/gemm.hpp"

namespace mx::fast {

// A sum, and the infinities and NaNs that were among its terms.
struct Total {
    WideSum sum;
    bool nan = false;
    bool positive_infinity = false;
    bool negative_infinity = false;
};

// left * right, of at most 48 significant bits each.
MX_HOST_DEVICE constexpr void add_product(Total& total, const Unpacked& left,
                                          const Unpacked& right) {
    const SpecialResult special = special_product(left, right);
    const bool negative = left.negative != right.negative;
    if (special.is_special) {
        const bool is_infinity = special.value.kind == Kind::infinity;
        total.nan |= !is_infinity;
        total.positive_infinity |= is_infinity && !negative;
        total.negative_infinity |= is_infinity && negative;
        return;
    }
    if (left.significand == 0 || right.significand == 0) return;
    add(total.sum,
        {negative, left.exponent + right.exponent, Uint128{left.significand} * right.significand});
}

MX_FOLDED constexpr Kind kind_of(const Total& total) {
    if (total.nan || (total.positive_infinity && total.negative_infinity)) return Kind::nan;
    return total.positive_infinity || total.negative_infinity ? Kind::infinity : Kind::finite;
}

// As exact::scaled_element; the product of 24 bits by 24 is exact.
MX_FOLDED constexpr Unpacked scaled_element(const ScaledRow& row, std::int64_t k) {
    const Unpacked element = unpack(row.element, row.codes.at(k));
    if (row.block == 0) return element;
    return exact_product(element, unpack(row.scale, row.scale_at(k)));
}

// As exact::dot.
MX_HOST_DEVICE constexpr Total dot(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
    Total total;
    for (std::int64_t k = 0; k < depth; ++k)
        add_product(total, scaled_element(a, k), scaled_element(b, k));
    return total;
}

struct Affine {
    Unpacked alpha;
    Unpacked beta;
};

MX_HOST_DEVICE constexpr void add_multiple(Total& result, const Unpacked& alpha,
                                           const Total& total) {
    const Kind kind = kind_of(total);
    if (kind != Kind::finite || alpha.kind != Kind::finite) {
        Unpacked digits = leading_bits(total.sum);
        if (kind != Kind::finite) digits = {kind, total.negative_infinity, 0, 0};
        // Of a finite number only the sign, and whether it is 0, matter here.
        digits.significand = digits.significand == 0 ? 0 : 1;
        digits.exponent = 0;
        add_product(result, alpha, digits);
        return;
    }
    const bool negative = is_negative(total.sum);
    const WideSum magnitude = magnitude_of(total.sum);
    for (int i = 0; i < WideSum::limb_count; ++i) {
        if (magnitude.limbs[i] == 0 || alpha.significand == 0) continue;
        add(result.sum,
            {negative != alpha.negative, WideSum::exponent_min + 64 * i + alpha.exponent,
             Uint128{magnitude.limbs[i]} * alpha.significand});
    }
}

// As exact::combine.
MX_HOST_DEVICE constexpr Total combine(const Affine& affine, const Total& total,
                                       const Unpacked& c) {
    Total result;
    add_multiple(result, affine.alpha, total);
    if (!is_zero(affine.beta)) add_product(result, affine.beta, c);
    return result;
}

// Rounded once, in any rounding but the stochastic. A zero is +0.
MX_HOST_DEVICE constexpr Code round_total(const ElementFormat& format, Rounding rounding,
                                          Overflow overflow, const Total& total) {
    Unpacked value = leading_bits(total.sum);
    const Kind kind = kind_of(total);
    if (kind != Kind::finite)
        value = {kind, kind == Kind::infinity && total.negative_infinity, 0, 0};
    return round(format, rounding, overflow, value);
}

}  // namespace mx::fast
