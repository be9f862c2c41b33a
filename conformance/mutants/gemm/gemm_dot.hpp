// The numbers of a product, and a step of a machine that sums 32 products, each cut to a few bits
// below the largest. Right for Bug::none, and wrong in one place for each of the others. Shares no
// line with reference/, so that agreeing with it means something.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "conformance/mutants/gemm/gemm_bug.hpp"
#include "conformance/mutants/gemm/gemm_request.hpp"
#include "conformance/mutants/mutant_elements.hpp"

namespace mx::mutants::gemm {

// How the products of a step are added.
enum class Way {
    aligned,       // with the accumulator, all cut to a few bits below the largest
    tree,          // in pairs, pairs of pairs, and the accumulator last
    even_and_odd,  // those of even and of odd k apart, and the accumulator last
};

struct Machine {
    int products;       // of a step
    int fraction_bits;  // kept below the largest exponent
    int kept_bits;      // of the mantissa of the accumulator between steps
    int promotion;      // k after which it is added to an outer one of binary32; 0: never
    Way way = Way::aligned;
    int led_by_rest = 1;  // what is left of K after whole ones of this length comes first
};

inline Machine machine_of(const GemmRequest& request) {
    if (is_half_format(request.a.codes.format)) return {4, 0, 23, 0, Way::tree};
    if (is_fnuz(request.a.codes.format)) return {16, 24, 23, 0, Way::even_and_odd};
    const bool is_mx = request.scaling == Scaling::blocks;
    Machine machine = is_mx ? Machine{32, 25, 23, 0} : Machine{32, 13, 13, 128};
    if (request.accumulation == Accumulation::fast || has(Bug::never_promoted))
        machine.promotion = 0;
    const bool is_promoted = machine.promotion != 0;
    if (has(Bug::promoted_every_64) && is_promoted) machine.promotion = 64;
    if (has(Bug::promoted_every_256) && is_promoted) machine.promotion = 256;
    if (has(Bug::promoted_every_96) && is_promoted) machine.promotion = 96;
    if (has(Bug::rest_of_chunk_first) && is_promoted) machine.led_by_rest = machine.promotion;
    if (has(Bug::rest_of_step_first) && !is_mx) machine.led_by_rest = machine.products;
    if (has(Bug::steps_of_16)) machine.products = 16;
    if (has(Bug::fraction_bit_short)) --machine.fraction_bits;
    if (has(Bug::accumulator_kept_whole)) machine.kept_bits = 23;
    if (has(Bug::accumulator_of_6_bits)) machine.kept_bits = 6;
    return machine;
}

inline int width_of(std::uint64_t magnitude) {
    return static_cast<int>(std::bit_width(magnitude));
}

enum class Kind { finite, infinity, nan };

// significand * 2^unit. The exponent is what its fields say, and what it is aligned by: of a
// subnormal number that of the smallest normal one.
struct Number {
    Kind kind = Kind::finite;
    bool negative = false;
    std::uint64_t significand = 0;
    int unit = 0;
    int exponent = 0;
    int scale = 0;  // how much of both is a scale
};
using Numbers = std::vector<Number>;

inline Number nan_number() {
    Number number;
    number.kind = Kind::nan;
    return number;
}

// What FP8 of the FNUZ kind is taken for.
inline Format taken_for(Format format) {
    if (has(Bug::fnuz_read_as_ocp) && format == e4m3fnuz) return e4m3;
    if (has(Bug::fnuz_bias_one_less)) ++format.exponent_min;
    if (has(Bug::fnuz_largest_as_nan)) --format.code_max;
    return format;
}

inline bool is_nan_of_fnuz(std::uint32_t code, const Format& format) {
    const bool is_ocp = has(Bug::fnuz_read_as_ocp) && format == e4m3fnuz;
    return is_fnuz(format) && code == 0x80 && !is_ocp && !has(Bug::fnuz_nan_as_minus_zero);
}

inline Number number_of(std::uint32_t code, const Format& asked) {
    if (is_nan_of_fnuz(code, asked)) return nan_number();
    const Format format = is_fnuz(asked) ? taken_for(asked) : asked;
    std::uint32_t magnitude = code & format.magnitude_mask();
    if (has(Bug::largest_element_one_less) && format == e4m3 && magnitude == format.code_max) {
        --magnitude;
        --code;
    }
    const int field = static_cast<int>(magnitude >> format.mantissa_bits);
    const std::uint32_t hidden = field == 0 ? 0u : 1u << format.mantissa_bits;
    Number number;
    number.negative = code != magnitude;
    number.exponent = format.exponent_min + std::max(field - 1, 0);
    number.unit = number.exponent - format.mantissa_bits;
    number.significand = hidden + (magnitude & ((1u << format.mantissa_bits) - 1));
    if (has(Bug::subnormal_elements_flushed) && field == 0) number.significand = 0;
    if (has(Bug::minus_zero_element_as_nan) && format == e4m3 && magnitude == 0 && code != 0)
        number.kind = Kind::nan;
    if (magnitude <= format.code_max) return number;
    if (has(Bug::nan_element_as_480) && format == e4m3) return number;
    const bool is_infinite = magnitude == format.code_overflow && format.has_infinity();
    number.kind = is_infinite ? Kind::infinity : Kind::nan;
    return number;
}

inline float value_of(const Number& number) {
    if (number.kind == Kind::nan) return std::nanf("");
    const double magnitude = number.kind == Kind::infinity
                                 ? infinity
                                 : std::ldexp(static_cast<double>(number.significand), number.unit);
    return static_cast<float>(number.negative ? -magnitude : magnitude);
}

// Where binary32 would have lost the product of the two scales.
inline Number times_f32_scales(Number product, int scale) {
    if (scale < -149) product.significand = 0;
    if (scale > 127 && product.kind == Kind::finite)
        product.kind = product.significand == 0 ? Kind::nan : Kind::infinity;
    return product;
}

inline int wrapped_sum(int a, int b) {
    return has(Bug::scale_sum_in_8_bits) ? static_cast<std::int8_t>(a + b) - (a + b) : 0;
}

inline Number product_of(const Number& a, const Number& b) {
    Number product;
    product.negative = a.negative != b.negative;
    product.significand = a.significand * b.significand;
    const int lost = wrapped_sum(a.scale, b.scale);
    product.unit = a.unit + b.unit + lost;
    product.exponent = a.exponent + b.exponent + lost;
    const auto is_zero = [](const Number& x) {
        return x.kind == Kind::finite && x.significand == 0;
    };
    const bool is_infinite = a.kind == Kind::infinity || b.kind == Kind::infinity;
    if (a.kind == Kind::nan || b.kind == Kind::nan) return nan_number();
    if (is_infinite && (is_zero(a) || is_zero(b)))
        return has(Bug::infinity_times_zero_as_zero) ? Number{} : nan_number();
    if (is_infinite) product.kind = Kind::infinity;
    if (has(Bug::exponents_normalised) && product.significand != 0)
        product.exponent = product.unit + width_of(product.significand) - 1;
    return has(Bug::scale_product_in_f32) ? times_f32_scales(product, a.scale + b.scale) : product;
}

// In whole units of 2^unit, toward zero.
inline std::int64_t cut(const Number& number, int unit) {
    const int shift = number.unit - unit;
    std::uint64_t magnitude = 0;
    if (shift >= 0)
        magnitude = number.significand << std::min(shift, 40);
    else if (shift > -64)
        magnitude = number.significand >> -shift;
    const bool is_cut = shift <= -64 || (shift < 0 && magnitude << -shift != number.significand);
    if (has(Bug::floor_for_truncation) && number.negative && is_cut && number.significand != 0)
        ++magnitude;
    const auto units = static_cast<std::int64_t>(magnitude);
    return number.negative ? -units : units;
}

// The sum of a step as the accumulator keeps it.
inline Number kept(const Machine& machine, std::int64_t sum, int unit) {
    constexpr int least = -126, largest = 127;
    Number number;
    number.negative = sum < 0;
    auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int width = width_of(magnitude);
    const int spare = std::max(width - 1 - machine.kept_bits, least - machine.kept_bits - unit);
    if (spare > 0) {
        const std::uint64_t rest = spare < 64 ? magnitude & ((std::uint64_t{1} << spare) - 1) : 0;
        magnitude = spare < 64 ? magnitude >> spare : 0;
        unit += spare;
        const std::uint64_t half = spare < 64 ? std::uint64_t{1} << (spare - 1) : 0;
        if (has(Bug::sum_to_nearest) && (rest > half || (rest == half && magnitude % 2 != 0)))
            ++magnitude;
    }
    if (magnitude == 0) number.negative = false;
    number.significand = magnitude;
    number.unit = unit;
    number.exponent = std::max(unit + width_of(magnitude) - 1, least);
    if (magnitude != 0 && unit + width_of(magnitude) - 1 > largest) number.kind = Kind::infinity;
    return number;
}

// What a term aligns the others to; nothing where it is zero.
inline bool has_exponent(const Number& number) {
    return number.significand != 0 || has(Bug::zero_exponents_counted);
}

inline Number step(const Machine& machine, const Numbers& products, const Number& accumulator) {
    bool positive = false, negative = false, is_any = accumulator.significand != 0;
    int largest = accumulator.exponent;
    const auto note = [&](const Number& term) {
        if (term.kind == Kind::infinity) (term.negative ? negative : positive) = true;
        return term.kind == Kind::nan;
    };
    if (note(accumulator)) return nan_number();
    for (const Number& product : products) {
        if (note(product)) return nan_number();
        if (!has_exponent(product)) continue;
        largest = is_any ? std::max(largest, product.exponent) : product.exponent;
        is_any = true;
    }
    if (positive && negative) return nan_number();
    if (positive || negative) return {Kind::infinity, negative, 0, 0, 0, 0};
    if (!is_any) return {};
    const int unit = largest - machine.fraction_bits;
    std::int64_t sum = cut(accumulator, unit);
    for (const Number& product : products) sum += cut(product, unit);
    return sum == 0 ? Number{} : kept(machine, sum, unit);
}

}  // namespace mx::mutants::gemm
