// A third judge: what the exact oracle answers, computed once more with MPFR and nothing of ours
// but the tables. Random values of f32, every bfloat16; the whole domains are the business of
// reference/proof.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "reference/exact/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

constexpr mpfr_prec_t wide = 300;  // every value and product here is exact in as many bits
constexpr int samples = 100'000;   // of each format

// An mpfr_t that is cleared by itself.
class Number {
public:
    explicit Number(mpfr_prec_t bits = wide) { mpfr_init2(value_, bits); }
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;
    ~Number() { mpfr_clear(value_); }
    operator mpfr_ptr() { return value_; }
    operator mpfr_srcptr() const { return value_; }
    mpfr_srcptr operator->() const { return value_; }  // mpfr.h has macros that want a pointer

private:
    mpfr_t value_;
};

bool equals(const Number& number, const exact::Rational& value) {
    mpq_t fraction;
    mpq_init(fraction);
    mpq_set_str(fraction, exact::to_fraction(value).c_str(), 10);
    mpq_canonicalize(fraction);
    const bool same = mpfr_cmp_q(number, fraction) == 0;
    mpq_clear(fraction);
    return same;
}

// The magnitude that a magnitude code stands for.
void set_magnitude(Number& number, const ElementFormat& format, std::uint32_t code) {
    const long field = static_cast<long>(code >> format.mantissa_bits);
    const std::uint32_t mantissa = code % (1u << format.mantissa_bits);
    const bool hidden = field != 0 || format.zero_exponent == ZeroExponent::normal;
    const bool lowest = field == 0 && format.zero_exponent == ZeroExponent::subnormal;
    mpfr_set_ui(number, mantissa + (hidden ? 1ul << format.mantissa_bits : 0), MPFR_RNDN);
    mpfr_mul_2si(number, number, (lowest ? 1 : field) - format.exponent_bias - format.mantissa_bits,
                 MPFR_RNDN);
}

// Half the codes of f32 are uniform, half have a size that the formats can show; of a quarter the
// low digits are zero, so that ties and exact values are among them.
float random_f32(std::mt19937& random) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    if (random() % 2 == 0)
        bits = (bits & 0x807FFFFF) | static_cast<std::uint32_t>(127 - 20 + random() % 40) << 23;
    if (random() % 4 == 0) bits &= ~std::uint32_t{0} << (16 + random() % 8);
    const bool is_finite = (bits & 0x7F800000) != 0x7F800000;
    return is_finite ? std::bit_cast<float>(bits) : 0.0f;
}

struct Question {
    const ElementFormat& format;
    Rounding rounding;
    Overflow overflow;
    RandomBits random;
};

// Rounds a whole number of quanta, of any sign, to an integer.
void round_to_integer(Number& rounded, const Number& quanta, const Question& q) {
    const bool negative = mpfr_sgn(quanta) < 0;
    Number cut, fraction, carry;
    mpfr_trunc(cut, quanta);
    mpfr_sub(fraction, quanta, cut, MPFR_RNDN);
    mpfr_abs(fraction, fraction, MPFR_RNDN);
    bool away = false;
    switch (q.rounding) {
        case Rounding::nearest_even:
            mpfr_rint(rounded, quanta, MPFR_RNDN);
            return;
        case Rounding::nearest_away:
            mpfr_round(rounded, quanta);
            return;
        case Rounding::toward_zero:
            mpfr_trunc(rounded, quanta);
            return;
        case Rounding::toward_positive:
            mpfr_ceil(rounded, quanta);
            return;
        case Rounding::toward_negative:
            mpfr_floor(rounded, quanta);
            return;
        case Rounding::away_from_zero:
            mpfr_rint(rounded, quanta, MPFR_RNDA);
            return;
        case Rounding::nearest_toward_zero:
            away = mpfr_cmp_d(fraction, 0.5) > 0;
            break;
        case Rounding::to_odd:
            away = mpfr_sgn(fraction) != 0 && mpfr_get_si(cut, MPFR_RNDN) % 2 == 0;
            break;
        case Rounding::stochastic:
            mpfr_mul_2si(carry, fraction, q.random.count, MPFR_RNDN);
            mpfr_floor(carry, carry);
            mpfr_add_ui(carry, carry, q.random.bits, MPFR_RNDN);
            away = mpfr_cmp_ui_2exp(carry, 1, q.random.count) >= 0;
            break;
    }
    mpfr_set(rounded, cut, MPFR_RNDN);
    if (away) mpfr_add_si(rounded, rounded, negative ? -1 : 1, MPFR_RNDN);
}

bool stays_in_range(Rounding rounding, bool negative) {
    return rounding == Rounding::toward_zero || rounding == Rounding::to_odd ||
           (rounding == Rounding::toward_positive && negative) ||
           (rounding == Rounding::toward_negative && !negative);
}

// The magnitude code of a value of the format, its own or one beyond it.
std::uint32_t code_of(const Number& magnitude, const ElementFormat& format) {
    if (mpfr_zero_p(magnitude)) return 0;
    const long exponent_min = 1 - format.exponent_bias;
    const long exponent = std::max<long>(mpfr_get_exp(magnitude) - 1, exponent_min);
    Number count;
    mpfr_mul_2si(count, magnitude, format.mantissa_bits - exponent, MPFR_RNDN);
    return static_cast<std::uint32_t>((exponent - exponent_min) << format.mantissa_bits) +
           static_cast<std::uint32_t>(mpfr_get_ui(count, MPFR_RNDN));
}

std::uint32_t rounded_code(float input, const Question& q) {
    const ElementFormat& format = q.format;
    const bool negative = std::signbit(input);
    Number value, quanta, rounded, largest;
    mpfr_set_flt(value, input, MPFR_RNDN);
    const long exponent_min = 1 - format.exponent_bias;
    const long exponent =
        mpfr_zero_p(value) ? exponent_min : std::max<long>(mpfr_get_exp(value) - 1, exponent_min);
    mpfr_mul_2si(quanta, value, format.mantissa_bits - exponent, MPFR_RNDN);
    round_to_integer(rounded, quanta, q);
    mpfr_abs(rounded, rounded, MPFR_RNDN);
    mpfr_mul_2si(rounded, rounded, exponent - format.mantissa_bits, MPFR_RNDN);
    const bool asymmetric = negative && format.negatives == Negatives::twos_complement;
    const std::uint32_t code_max = asymmetric ? 128 : format.code_max_finite();
    set_magnitude(largest, format, code_max);
    std::uint32_t code = code_max;
    if (mpfr_cmp(rounded, largest) <= 0) {
        code = code_of(rounded, format);
    } else if (q.overflow == Overflow::overflow && !stays_in_range(q.rounding, negative)) {
        if (format.specials == Specials::infinity_and_nan) code = code_max + 1;
        if (format.specials == Specials::nan_only) code = code_max + 1;
        if (format.specials == Specials::nan_for_negative_zero) return 0x80;
    }
    if (code == 0 && format.specials == Specials::nan_for_negative_zero) return 0;
    if (!negative) return code;
    const std::uint32_t codes = 1u << format.code_bits();
    return format.negatives == Negatives::sign_bit ? code | codes / 2 : (codes - code) % codes;
}

TEST(Mpfr, AgreesWithEveryDecodedCode) {
    for (const ElementFormat& format : element_formats) {
        const std::uint64_t codes = std::uint64_t{1} << format.code_bits();
        const std::uint64_t step = codes <= 65536 ? 1 : 40'009;
        for (std::uint64_t bits = 0; bits < codes; bits += step) {
            const Code code{static_cast<std::uint32_t>(bits)};
            const exact::Value value = exact::decode(format, code);
            if (!value.is_finite()) continue;
            Number expected;
            const bool upper = format.sign_bits == 1 && bits >= codes / 2;
            const std::uint64_t magnitude = !upper ? bits
                                            : format.negatives == Negatives::sign_bit
                                                ? bits - codes / 2
                                                : codes - bits;
            set_magnitude(expected, format, static_cast<std::uint32_t>(magnitude));
            ASSERT_EQ(value.negative, upper) << format.name << " " << bits;
            ASSERT_TRUE(equals(expected, value.magnitude)) << format.name << " " << bits;
        }
    }
}

TEST(Mpfr, AgreesWithRoundingInEveryMode) {
    std::mt19937 random(1);
    for (const ElementFormat& format : element_formats) {
        if (format.sign_bits == 0 || format.code_bits() > 8) continue;
        for (int i = 0; i < samples; ++i) {
            const auto& [name, rounding] = roundings[random() % roundings.size()];
            Question q{format, rounding, overflows[random() % 2].second, {}};
            q.random.count = 1 + static_cast<int>(random() % 32);
            q.random.bits =
                static_cast<std::uint32_t>(random()) >> static_cast<unsigned>(32 - q.random.count);
            const float input = random_f32(random);
            const Code bits{std::bit_cast<std::uint32_t>(input)};
            const Code code = exact::round(format, rounding, q.overflow,
                                           exact::decode(formats::f32, bits), q.random);
            ASSERT_EQ(code.bits, rounded_code(input, q))
                << format.name << " " << name << " " << std::hexfloat << input;
        }
    }
}

// Not at borders alone: every finite number of bfloat16, so that values between two borders are
// among them, in every mode but the stochastic one.
TEST(Mpfr, AgreesWithRoundingOfEveryBfloat16) {
    for (const ElementFormat& format : element_formats) {
        if (format.sign_bits == 0 || format.code_bits() > 8) continue;
        for (const auto& [name, rounding] : roundings) {
            if (rounding == Rounding::stochastic) continue;
            for (std::uint32_t code = 0; code < 1u << 16; ++code) {
                if (formats::bf16.is_nan(Code{code}) || formats::bf16.is_infinity(Code{code}))
                    continue;
                const Question q{format, rounding, overflows[code % 2].second, {}};
                const Code rounded = exact::round(format, rounding, q.overflow,
                                                  exact::decode(formats::bf16, Code{code}));
                ASSERT_EQ(rounded.bits, rounded_code(std::bit_cast<float>(code << 16), q))
                    << format.name << " " << name << " " << std::hex << code;
            }
        }
    }
}

}  // namespace
}  // namespace mx
