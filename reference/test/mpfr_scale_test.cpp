// The third judge of scales: the steps from an amax to a byte, once more with MPFR, for every
// dialect and format. Values stay clear of the ends of E8M0, whose limits are read off the table.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cstdlib>
#include <random>

#include "reference/exact/scale.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

constexpr int samples = 4000;  // of each format and dialect

// Rounds x to `bits` bits. The values here are normal in binary32, so 24 bits are binary32.
void round_to_bits(mpfr_ptr x, mpfr_prec_t bits, mpfr_rnd_t direction) {
    mpfr_prec_round(x, bits, direction);
    mpfr_prec_round(x, 200, MPFR_RNDN);
}

// Rounds a positive x to `bits` bits, ties away from zero or toward it.
void round_ties(mpfr_ptr x, mpfr_prec_t bits, AmaxRounding rounding) {
    const long shift = bits - mpfr_get_exp(x);
    mpfr_mul_2si(x, x, shift, MPFR_RNDN);
    if (rounding == AmaxRounding::nearest_toward_zero) {
        mpfr_sub_d(x, x, 0.5, MPFR_RNDN);
        mpfr_ceil(x, x);
    } else {
        mpfr_add_d(x, x, 0.5, MPFR_RNDN);
        mpfr_floor(x, x);
    }
    mpfr_mul_2si(x, x, -shift, MPFR_RNDN);
}

// A power of two where log2, rounded once to binary32, is a whole number.
void round_by_log2f(mpfr_ptr x) {
    mpfr_t logarithm;
    mpfr_init2(logarithm, 24);
    mpfr_log2(logarithm, x, MPFR_RNDN);
    if (mpfr_integer_p(logarithm))
        mpfr_set_ui_2exp(x, 1, mpfr_get_si(logarithm, MPFR_RNDN), MPFR_RNDN);
    mpfr_clear(logarithm);
}

void shorten(mpfr_ptr x, AmaxRounding rounding, const ElementFormat& element) {
    switch (rounding) {
        case AmaxRounding::none:
            return;
        case AmaxRounding::whole_log2f:
            return round_by_log2f(x);
        case AmaxRounding::whole_log2f_to_2to127:
            round_by_log2f(x);
            if (mpfr_get_exp(x) > 128) mpfr_set_ui_2exp(x, 1, 127, MPFR_RNDN);
            return;
        case AmaxRounding::one_bit_away:
            return round_ties(x, 2, rounding);
        case AmaxRounding::nearest_away:
        case AmaxRounding::nearest_away_to_2to128:
        case AmaxRounding::nearest_toward_zero:
            return round_ties(x, element.mantissa_bits + 1, rounding);
    }
}

void set_largest(mpfr_ptr x, const ElementFormat& element) {
    const std::uint32_t code = element.code_max_finite();
    const std::uint32_t units = 1u << element.mantissa_bits;
    const long field = static_cast<long>(code / units);
    mpfr_set_ui(x, code % units + (field != 0 ? units : 0), MPFR_RNDN);
    mpfr_mul_2si(x, x, (field != 0 ? field : 1) - element.exponent_bias - element.mantissa_bits,
                 MPFR_RNDN);
}

void raise_to(mpfr_ptr x, std::uint32_t f32_code) {
    const float least = std::bit_cast<float>(f32_code);
    if (mpfr_cmp_d(x, least) < 0) mpfr_set_flt(x, least, MPFR_RNDN);
}

void make_ratio(mpfr_ptr x, const Quantizer& dialect, const ElementFormat& element) {
    mpfr_t largest;
    mpfr_init2(largest, 200);
    set_largest(largest, element);
    shorten(x, dialect.amax_rounding, element);
    raise_to(x, dialect.amax_min);
    switch (dialect.scale_ratio) {
        case ScaleRatio::over_emax:
        case ScaleRatio::over_emax_f32:
            mpfr_mul_2si(x, x, 1 - mpfr_get_exp(largest), MPFR_RNDN);
            break;
        case ScaleRatio::times_reciprocal:
        case ScaleRatio::times_reciprocal_flushed:
            mpfr_ui_div(largest, 1, largest, MPFR_RNDN);
            round_to_bits(largest, 24, MPFR_RNDN);
            mpfr_mul(x, x, largest, MPFR_RNDN);
            round_to_bits(x, 24, MPFR_RNDN);
            break;
        case ScaleRatio::divided:
            mpfr_div(x, x, largest, MPFR_RNDN);
            round_to_bits(x, 24, MPFR_RNDN);
            break;
        case ScaleRatio::none:
            break;
        case ScaleRatio::times_reciprocal_over_tensor:
        case ScaleRatio::divided_over_tensor:
        case ScaleRatio::over_tensor_divided:
        case ScaleRatio::divided_times_tensor:
        case ScaleRatio::times_scaled_tensor:
        case ScaleRatio::max_over_amax:
        case ScaleRatio::tensor:
            ADD_FAILURE() << dialect.name << " has no scales of powers of two";
    }
    raise_to(x, dialect.ratio_min);
    mpfr_clear(largest);
}

// The exponent that a positive ratio is rounded to.
long exponent_of(mpfr_ptr x, ScaleRounding rounding) {
    const long below = mpfr_get_exp(x) - 1;
    mpfr_t t;
    mpfr_init2(t, rounding == ScaleRounding::nearest_log2 ? 200 : 24);
    mpfr_log2(t, x, MPFR_RNDN);
    const long log_up = mpfr_get_si(t, MPFR_RNDU);
    if (rounding == ScaleRounding::nearest_log2f) mpfr_round(t, t);
    if (rounding == ScaleRounding::nearest_log2) mpfr_add_d(t, t, 0.5, MPFR_RNDN);
    const long log_nearest = mpfr_get_si(t, MPFR_RNDD);
    mpfr_set_prec(t, 200);
    mpfr_mul_2si(t, x, -below, MPFR_RNDN);  // from 1 to 2
    const int to_power = mpfr_cmp_ui(t, 1), to_middle = mpfr_cmp_d(t, 1.5);
    mpfr_clear(t);
    const bool even_is_above = (below + 127) % 2 != 0;
    switch (rounding) {
        case ScaleRounding::toward_zero:
            return below;
        case ScaleRounding::toward_positive:
            return below + (to_power > 0 ? 1 : 0);
        case ScaleRounding::nearest_even:
            return below + (to_middle > 0 || (to_middle == 0 && even_is_above) ? 1 : 0);
        case ScaleRounding::nearest_away:
            return below + (to_middle >= 0 ? 1 : 0);
        case ScaleRounding::nearest_log2:
        case ScaleRounding::nearest_log2f:
            return log_nearest;
        case ScaleRounding::ceil_log2f:
            return log_up;
    }
    return 0;
}

// Sizes from 2^-60 to 2^60; of a quarter the digits are next to a power of two and of a quarter
// next to the square root of 2, where logarithms in binary32 go wrong, and of a quarter the low
// ones are zero.
float random_amax(std::mt19937& random) {
    std::uint32_t mantissa = static_cast<std::uint32_t>(random()) & 0x7FFFFF;
    const std::uint32_t field = static_cast<std::uint32_t>(127 - 60 + random() % 120);
    const auto kind = random() % 4;
    if (kind == 0) mantissa = (mantissa & 1) != 0 ? mantissa & 0xFF : 0x7FFFFF - (mantissa & 0xFF);
    if (kind == 2) mantissa = 0x3504F3 - 64 + mantissa % 128;
    if (kind == 1) mantissa &= 0x7FFFFFu << (18 + random() % 5);
    return std::bit_cast<float>(field << 23 | (mantissa & 0x7FFFFF));
}

TEST(MpfrScale, AgreesForEveryDialectAndFormat) {
    std::mt19937 random(2);
    std::uint64_t compared = 0;
    mpfr_t x;
    mpfr_init2(x, 200);
    for (const BlockFormat& format : mx_block_formats)
        for (const Quantizer& dialect : e8m0_quantizers) {
            if (!dialect.quantizes(format)) continue;
            for (int i = 0; i < samples; ++i) {
                const float amax = random_amax(random);
                mpfr_set_flt(x, amax, MPFR_RNDN);
                make_ratio(x, dialect, format.element());
                const long byte = exponent_of(x, dialect.scale_cast.rounding) + 127;
                if (byte > dialect.scale_cast.byte_max || byte < dialect.scale_cast.byte_min)
                    continue;
                const exact::Value value =
                    exact::decode(formats::f32, Code{std::bit_cast<std::uint32_t>(amax)});
                ASSERT_EQ(exact::encode_scale(dialect, format, value).bits, byte)
                    << dialect.name << " " << format.name << " " << std::hexfloat << amax;
                ++compared;
            }
        }
    mpfr_clear(x);
    EXPECT_GT(compared, 100'000u);
}

TEST(MpfrScale, AgreesForEveryCast) {
    std::mt19937 random(3);
    mpfr_t x;
    mpfr_init2(x, 200);
    for (const Quantizer& dialect : e8m0_quantizers)
        for (int i = 0; i < samples; ++i) {
            const float number = random_amax(random);
            mpfr_set_flt(x, number, MPFR_RNDN);
            const long byte = exponent_of(x, dialect.scale_cast.rounding) + 127;
            const exact::Value value =
                exact::decode(formats::f32, Code{std::bit_cast<std::uint32_t>(number)});
            ASSERT_EQ(exact::cast_to_scale(dialect.scale_cast, value).bits, byte)
                << dialect.name << " " << std::hexfloat << number;
        }
    mpfr_clear(x);
}

}  // namespace
}  // namespace mx
