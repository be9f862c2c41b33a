// See gemm_probes.hpp.
#include "conformance/identify/gemm_probes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/identify/gemm_rows.hpp"
#include "reference/fast/decode.hpp"

namespace mx::identify {
namespace {

constexpr std::int64_t mates_seen = 130;

// Where the large pair cancels before a small product is added, that is kept (P5).
void add_step_mates(Rows& rows) {
    const Small large{large_of(rows)}, minus{large_of(rows), -4}, hidden{hidden_of(rows)};
    for (std::int64_t k = 2; k < mates_seen; ++k)
        rows.probe("products of a step").product(0, large).product(1, minus).product(k, hidden);
    for (const std::int64_t partner : {2, 4, 8, 16, 32, 64})
        for (std::int64_t k = partner + 1; k < partner + 24; ++k)
            rows.probe("products of a step")
                .product(0, large)
                .product(partner, minus)
                .product(k, hidden);
}

// A pair that cancels, and beside it ever smaller products of several mantissas (P1, P2, P6).
void add_fractions(Rows& rows) {
    for (const int quarters : {4, -4, 6, -6, 5, 7})
        for (int exponent = large_of(rows); exponent >= rows.smallest(); --exponent)
            for (const std::int64_t third : {2, 4}) {
                if (third == 4 && quarters != 4) continue;
                rows.probe("fraction bits")
                    .product(0, {large_of(rows)})
                    .product(1, {large_of(rows), -4})
                    .product(third, {exponent, quarters});
            }
}

// The same beside products whose fields and values differ in exponent (P6, P9), and zeros (P8).
void add_exponents(Rows& rows) {
    const ElementFormat &a = rows.setting().a.element, &b = rows.setting().b.element;
    const Code high_a = code_of(a, {a.exponent_max() - 1, 6});
    const Code high_b = code_of(b, {b.exponent_max() - 1, 6});
    const Code low_a{1}, low_b{1}, zero{0};
    const auto minus = [](const ElementFormat& format, Code code) {
        return format.negative(code.bits);
    };
    for (int exponent = rows.largest(); exponent >= rows.smallest(); --exponent) {
        rows.probe("product exponent")
            .codes(0, high_a, high_b)
            .codes(1, minus(a, high_a), high_b)
            .product(2, {exponent});
        rows.probe("product exponent")
            .codes(0, low_a, high_b)
            .codes(1, minus(a, low_a), high_b)
            .product(2, {exponent});
        rows.probe("product exponent")
            .codes(0, high_a, low_b)
            .codes(1, high_a, minus(b, low_b))
            .product(2, {exponent});
        rows.probe("zero products").codes(0, zero, high_b).product(2, {exponent, 5});
        rows.probe("zero products").codes(0, high_a, zero).product(2, {exponent, 5});
    }
    for (const std::uint32_t code : {1u, (1u << a.mantissa_bits) - 1u}) {
        rows.probe("subnormal factors").codes(0, Code{code}, code_of(b, {0}));
        rows.probe("subnormal factors").codes(0, code_of(a, {0}), Code{code});
    }
}

// Sums that need more bits than an accumulator may have, and are rounded to it (P3, P4).
void add_widths(Rows& rows) {
    for (const int count : {1, 3, 7, 15, 31})
        for (const int quarters : {4, 6, -4, -6})
            for (int below = 1; below <= 30 && -below >= rows.smallest(); ++below)
                for (const int sign : {1, -1}) {
                    if (sign < 0 && count != 3 && count != 15) continue;
                    rows.probe("accumulator");
                    for (int i = 0; i < count; ++i) rows.product(i, {0, 4 * sign});
                    rows.product(count, {-below, quarters});
                }
    const Code largest_a{rows.setting().a.element.code_max_finite()};
    const Code largest_b{rows.setting().b.element.code_max_finite()};
    for (const int count : {1, 2, 8, 64}) {
        rows.probe("accumulator");
        for (int i = 0; i < count; ++i) rows.codes(i, largest_a, largest_b);
    }
}

// A sum that goes on: one product, a small one much later, and the first taken away again.
void add_chains(Rows& rows) {
    for (const int quarters : {4, 6, -4, -6})
        for (int below = 0; below <= 30 && 4 - below >= rows.smallest(); ++below) {
            rows.probe("accumulator")
                .product(0, {4})
                .product(rows.depth() / 2, {4 - below, quarters});
            rows.probe("accumulator")
                .product(0, {4})
                .product(rows.depth() / 2, {4 - below, quarters})
                .product(rows.depth() - 8, {4, -4});
        }
}

// Small products everywhere before a pair that hides them: what an outer accumulator or another
// part of K holds by then is kept (P13b, P14).
void add_promotions(Rows& rows) {
    const Small large{large_of(rows)}, minus{large_of(rows), -4}, hidden{hidden_of(rows)};
    const auto tail = [&](std::int64_t first) {
        rows.probe("promotion");
        for (std::int64_t k = 0; k < first; k += 8) rows.product(k, hidden);
        rows.product(first, large);
    };
    for (std::int64_t first = 8; first + 8 <= rows.depth(); first += 8) {
        tail(first);
        rows.product(first + 1, minus);
        tail(first);
        rows.product(std::min(first + 40, rows.depth() - 1), minus);
        tail(first);
        rows.product(std::min(first + 264, rows.depth() - 1), minus);
    }
}

// 2^-150, 2^-151 and so on, the last one twice: their sum is the smallest number of binary32. Where
// elements do not reach so far down, scales of blocks bring them there.
void add_floors(Rows& rows) {
    const GemmProblem& setting = rows.setting();
    const bool is_scaled = has_block_scales(setting);
    if (is_scaled && !(row_of(setting.a.scaling).scale == formats::e8m0 &&
                       row_of(setting.b.scaling).scale == formats::e8m0))
        return;
    const int top = is_scaled ? std::min(rows.largest() - 1, 15) : -150;
    const int least = is_scaled
                          ? rows.smallest()
                          : setting.a.element.exponent_min() + setting.b.element.exponent_min();
    for (int last = 151; last < 170 && top + 150 - last >= least; ++last) {
        rows.probe("exponent floor");
        for (int exponent = 150; exponent <= last; ++exponent)
            rows.product(exponent - 150, {top + 150 - exponent});
        rows.product(last - 149, {top + 150 - last});
        if (is_scaled) set_all_scales(rows, -150 - top);
    }
}

// A block whose products sum to 0 under a large scale, and a small product in the next: is it cut?
void add_zero_groups(Rows& rows) {
    const GemmProblem& setting = rows.setting();
    if (!has_block_scales(setting)) return;
    const FactorScalingRow& scaling = row_of(setting.a.scaling);
    const bool is_wide = !scaling.scale.has_zero() || scaling.scale.code_bits() > 8;
    rows.probe("zero products").product(0, {0}).product(1, {0, -4}).product(scaling.block, {-2});
    set_all_scales(rows, 0);
    GemmProbe& probe = rows.all().back();
    set_scales(setting, probe, 0, is_wide ? 60 : 16);
    if (probe.scales_a.size() > 1) set_scales(setting, probe, 1, is_wide ? 0 : -18);
}

// Half of the smallest number of binary16, and a product that makes it more than half if it is
// kept.
void add_half_floors(Rows& rows) {
    const ElementFormat &a = rows.setting().a.element, &b = rows.setting().b.element;
    const int least = std::max(a.quantum_exponent_min() + b.quantum_exponent_min(), -48);
    if (has_block_scales(rows.setting()) || least > -26) return;
    for (int last = 26; last <= -least; ++last)
        rows.probe("exponent floor").product(0, {-25}).product(1, {-last});
}

}  // namespace

GemmProbes sum_probes(const GemmProblem& setting, std::int64_t depth) {
    Rows rows(setting, depth);
    add_step_mates(rows);
    add_fractions(rows);
    add_exponents(rows);
    add_widths(rows);
    add_chains(rows);
    add_promotions(rows);
    add_floors(rows);
    add_half_floors(rows);
    add_zero_groups(rows);
    add_random(rows, 4, 1);
    return std::move(rows.all());
}

GemmProbes special_probes(const GemmProblem& setting, std::int64_t depth) {
    Rows rows(setting, depth);
    const ElementFormat &a = setting.a.element, &b = setting.b.element;
    const Code one_a = code_of(a, {0}), one_b = code_of(b, {0}), zero{0};
    const auto with_sign = [](const ElementFormat& format, std::uint32_t magnitude) {
        return format.negative(magnitude);
    };
    rows.probe("sum of nothing");
    rows.probe("-0").codes(0, with_sign(a, 0), one_b);
    rows.probe("1 - 1").codes(0, one_a, one_b).codes(1, with_sign(a, one_a.bits), one_b);
    rows.probe("1 - 1").codes(0, one_a, one_b).codes(depth / 2, with_sign(a, one_a.bits), one_b);
    if (a.has_nan()) rows.probe("NaN").codes(0, Code{a.code_nan()}, one_b);
    if (a.has_nan()) rows.probe("NaN * 0").codes(0, Code{a.code_nan()}, zero);
    if (b.has_nan()) rows.probe("NaN").codes(3, one_a, with_sign(b, b.code_nan()));
    if (a.has_infinity()) {
        const Code infinity{a.code_infinity()}, minus = with_sign(a, a.code_infinity());
        rows.probe("Inf").codes(0, infinity, one_b);
        rows.probe("Inf * 0").codes(0, infinity, zero);
        rows.probe("Inf - Inf").codes(0, infinity, one_b).codes(1, minus, one_b);
        rows.probe("Inf - Inf").codes(0, infinity, one_b).codes(depth / 2, minus, one_b);
    }
    return std::move(rows.all());
}

GemmProbes random_probes(const GemmProblem& setting, std::int64_t depth, std::size_t count,
                         GemmData data, std::uint64_t seed) {
    GemmProbes probes(count);
    for (std::size_t row = 0; row < count; ++row) {
        probes[row].about = std::string(gemm_data_names[static_cast<std::size_t>(data)]);
        for (std::int64_t k = 0; k < depth; ++k) {
            const auto at = static_cast<std::uint64_t>(k);
            probes[row].a.push_back(gemm_code(data, setting.a.element, {seed, 0, row, at}));
            probes[row].b.push_back(gemm_code(data, setting.b.element, {seed, 1, row, at}));
        }
    }
    return probes;
}

namespace {
constexpr std::int64_t split_step = 32;
constexpr std::int64_t beyond_promotion = 160;
}  // namespace

GemmProbes split_probes(const GemmProblem& setting, std::int64_t depth) {
    Rows rows(setting, depth);
    const Small large{large_of(rows)}, hidden{hidden_of(rows)};
    for (int i = 1; i < 64; ++i) {
        const std::int64_t first = depth * i / 64;
        rows.probe("split along k");
        for (std::int64_t k = 0; k < first; k += split_step) rows.product(k, hidden);
        rows.product(first + 1, large);
        rows.product(std::min(first + beyond_promotion, depth - 1), {large_of(rows), -4});
    }
    add_random(rows, 6, 50);
    return std::move(rows.all());
}

std::int64_t part_seen(const GemmProblem& setting, const GemmProbe& probe, Code answer) {
    if (probe.about != "split along k" || formats::f32.is_nan(answer)) return 0;
    // The first product is one of those that are counted.
    const auto value = [](const ElementFormat& format, Code code) {
        const fast::Unpacked number = fast::unpack(format, code);
        return std::ldexp(static_cast<double>(number.significand), number.exponent);
    };
    const double one = value(setting.a.element, probe.a[0]) * value(setting.b.element, probe.b[0]);
    const double count = value(formats::f32, answer) / one;
    const bool is_count = answer.bits >> 31 == 0 && count >= 1 &&
                          count < static_cast<double>(probe.depth()) && std::floor(count) == count;
    return is_count ? static_cast<std::int64_t>(count) * split_step : 0;
}

}  // namespace mx::identify
