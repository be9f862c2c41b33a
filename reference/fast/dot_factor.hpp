// The factors of a modelled dot product, decoded once for all outputs that read them, and the steps
// that read these: what fast/dot_model.hpp says, for models whose steps align single products and
// cut them. Fit for a GPU. Proved by reference/proof/prove_dot_model.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/dot_model.hpp"
#include "reference/spec/formats.hpp"

namespace mx::fast {

// A code as a step reads it. Zeros without a place in the row have the default.
struct alignas(8) Factor {
    // |sign|special|30 bits of significand|; special: an infinity or NaN
    std::uint32_t bits = 0;
    std::int16_t exponent = 0;
    std::int16_t alignment = 0;  // the exponent that the machine reads from its fields

    static constexpr std::uint32_t sign_bit = 0x80000000, special_bit = 0x40000000;
    MX_FOLDED constexpr std::uint32_t significand() const { return bits & (special_bit - 1); }
};

// `read`: the format whose least exponent the machine takes a subnormal's to be.
MX_FOLDED constexpr Factor factor_of(const ElementFormat& read, const Unpacked& value) {
    return {static_cast<std::uint32_t>(value.significand) |
                (value.negative ? Factor::sign_bit : 0) |
                (value.kind == Kind::finite ? 0 : Factor::special_bit),
            static_cast<std::int16_t>(value.exponent),
            static_cast<std::int16_t>(exponent_of(read, value))};
}

MX_FOLDED constexpr Factor factor_of(const ElementFormat& format, FactorExponents exponents,
                                     Code code) {
    constexpr ElementFormat f16 = formats::f16;
    return factor_of(exponents == FactorExponents::own ? format : f16, unpack(format, code));
}

MX_FOLDED constexpr Factor times_scale(const Factor& factor, const Factor& scale) {
    const std::uint32_t flags = (factor.bits ^ scale.bits) & Factor::sign_bit;
    const std::uint32_t special = (factor.bits | scale.bits) & Factor::special_bit;
    return {factor.significand() * scale.significand() | flags | special,
            static_cast<std::int16_t>(factor.exponent + scale.exponent),
            static_cast<std::int16_t>(factor.alignment + scale.exponent)};
}

// Element k of a row, times the scale of its block where that moves its exponent.
MX_FOLDED constexpr Factor factor_at(const GemmModel& model, const ScaledRow& row, std::int64_t k) {
    constexpr ElementFormat bf16 = formats::bf16;
    if (model.scaling == BlockScaling::dequantised) return factor_of(bf16, dequantised(row, k));
    const Factor factor = factor_of(row.element, model.exponents, row.codes.at(k));
    if (model.scaling != BlockScaling::product_exponent) return factor;
    return times_scale(factor, factor_of(row.scale, FactorExponents::own, row.scale_at(k)));
}

// Whether a model's steps are those of this file.
MX_FOLDED constexpr bool has_factors(const GemmModel& model) {
    return model.sum == StepSum::aligned && model.fraction_bits != all_bits &&
           model.cut == Rounding::toward_zero && model.scaling != BlockScaling::group;
}

constexpr int no_alignment = -100000;

// Of two factors of a row. What counts for nothing is aligned by nothing.
struct FactorProduct {
    std::uint64_t magnitude;
    int exponent;
    int alignment;
    bool negative;
};
MX_FOLDED constexpr FactorProduct product_of(ZeroProducts zeros, const Factor& x, const Factor& y) {
    const std::uint64_t magnitude = std::uint64_t{x.significand()} * y.significand();
    const bool counts = magnitude != 0 || zeros == ZeroProducts::counted;
    return {magnitude, x.exponent + y.exponent, counts ? x.alignment + y.alignment : no_alignment,
            ((x.bits ^ y.bits) & Factor::sign_bit) != 0};
}

// As cut: of at most 60 bits, so that no shift of up to 63 to the left is wanted of one that
// is not 0.
MX_FOLDED constexpr std::int64_t units_of(std::uint64_t magnitude, int exponent, bool negative,
                                          int unit) {
    const int shift = exponent - unit;
    const int left = shift < 0 ? 0 : shift < 63 ? shift : 63;
    const int right = shift > 0 ? 0 : shift > -63 ? -shift : 63;
    const auto units = static_cast<std::int64_t>(magnitude << left >> right);
    return negative ? -units : units;
}

// As step of finite numbers. `alignment`: the largest among the products;
// sum_in(unit): all of them, each cut to units of 2^unit.
template <typename Sum>
MX_FOLDED constexpr Unpacked finite_step(const GemmModel& model, int alignment,
                                         const Unpacked& accumulator, const Sum& sum_in) {
    if (accumulator.significand != 0) {
        const int own = exponent_of(model.accumulator, accumulator);
        if (own > alignment) alignment = own;
    }
    if (alignment == no_alignment) return {};
    const int least = model.exponent_floor;
    const int unit = (alignment > least ? alignment : least) - model.fraction_bits;
    return rounded_sum(model, cut(accumulator, unit) + sum_in(unit), unit);
}

// Factors along k, `stride` apart.
struct FactorRow {
    const Factor* first = nullptr;
    std::int64_t stride = 1;

    MX_FOLDED constexpr const Factor& at(std::int64_t k) const { return first[k * stride]; }
    MX_FOLDED constexpr FactorRow from(std::int64_t k) const {
        return {first + k * stride, stride};
    }
};

// A row as codes, for steps with infinities and NaN, and as factors.
struct FactoredRow {
    ScaledRow codes;
    FactorRow factors;

    MX_FOLDED constexpr FactoredRow from(std::int64_t k) const {
        return {codes.from(k), factors.from(k)};
    }
};

// As step. One product after the other, so that nothing but the sum is held.
MX_FOLDED constexpr Unpacked factored_step(const GemmModel& model, const FactoredRow& a,
                                           const FactoredRow& b, StepRange range,
                                           const Unpacked& accumulator) {
    const int products = model.products;
    const ProductOrder order = model.order;
    const ZeroProducts zeros = model.zero_products;
    const FactorRow left = a.factors, right = b.factors;
    const auto each = [&](const auto& take) {
        for (int i = 0; i < products; ++i) {
            const std::int64_t k = place_in_order(order, range.first + i);
            if (k >= range.depth) continue;
            const Factor x = left.at(k), y = right.at(k);
            take(x, y, product_of(zeros, x, y));
        }
    };
    std::uint32_t flags = accumulator.kind == Kind::finite ? 0 : Factor::special_bit;
    int alignment = no_alignment;
    each([&](const Factor& x, const Factor& y, const FactorProduct& product) {
        flags |= x.bits | y.bits;
        if (product.alignment > alignment) alignment = product.alignment;
    });
    if ((flags & Factor::special_bit) != 0)
        return step(model, a.codes, b.codes, range, accumulator);
    return finite_step(model, alignment, accumulator, [&](int unit) {
        std::int64_t sum = 0;
        each([&](const Factor&, const Factor&, const FactorProduct& product) {
            sum += units_of(product.magnitude, product.exponent, product.negative, unit);
        });
        return sum;
    });
}

// As accumulate without C, of a model that has_factors.
MX_HOST_DEVICE constexpr Unpacked accumulate_factors(const GemmModel& model, const FactoredRow& a,
                                                     const FactoredRow& b, std::int64_t depth) {
    const auto step = [&](StepRange range, const Unpacked& accumulator) {
        return factored_step(model, a, b, range, accumulator);
    };
    return accumulate_by(step, model, a.codes, b.codes, depth, {});
}

// As accumulate_in_parts.
MX_HOST_DEVICE constexpr Unpacked accumulate_factors_in_parts(const GemmModel& model,
                                                              const FactoredRow& a,
                                                              const FactoredRow& b,
                                                              std::int64_t depth,
                                                              std::int64_t part) {
    return sum_of_parts(depth, part, [&](std::int64_t first, std::int64_t count) {
        return accumulate_factors(model, a.from(first), b.from(first), count);
    });
}

}  // namespace mx::fast
