// From an integer significand and a power of two to a code, in any rounding mode.
// Proved by reference/proof/prove_round.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/decode.hpp"
#include "reference/spec/quantizer.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::fast {

// How a value is to be rounded, its digits aside.
struct RoundingRule {
    Rounding rounding;
    RandomBits random;
    bool negative;
};

MX_FOLDED constexpr std::uint32_t code_max_finite(const ElementFormat& format,
                                                  const RoundingRule& rule) {
    return rule.negative ? format.code_max_finite_negative() : format.code_max_finite();
}

MX_FOLDED constexpr std::uint32_t code_of_overflow(const ElementFormat& format, Overflow overflow,
                                                   const RoundingRule& rule) {
    if (overflow == Overflow::saturate) return code_max_finite(format, rule);
    if (format.has_infinity()) return format.code_infinity();
    if (overflow == Overflow::to_infinity) return code_max_finite(format, rule);
    return format.has_nan() ? format.code_nan() : code_max_finite(format, rule);
}

// What is added to a significand so that dropping bits afterwards leaves the rounded count: by
// whether the lowest kept bit is 0 or 1.
//
//   significand  kkkkkk dddddd      k kept, d dropped; unit = 2^dropped is the lowest k
struct Increments {
    std::uint64_t even;
    std::uint64_t odd;
    friend constexpr bool operator==(const Increments&, const Increments&) = default;
};

// Of the remainder the first random.count digits count, so the random bits are aligned with them.
// Significands stay below 2^31 where the rounding is stochastic: when 63 bits and more are dropped,
// no digit that counts is 1, and which of these shifts it was is the same.
MX_FOLDED constexpr std::uint64_t aligned_random_bits(RandomBits random, int dropped) {
    const std::uint64_t bits = random.bits;
    return dropped >= random.count ? bits << (dropped - random.count)
                                   : bits >> (random.count - dropped);
}

MX_FOLDED constexpr Increments increments_of(const RoundingRule& rule, int dropped) {
    if (dropped == 0) return {0, 0};
    const std::uint64_t all_but_one = (std::uint64_t{1} << dropped) - 1;
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    switch (rule.rounding) {
        case Rounding::nearest_even:
            return {half - 1, half};
        case Rounding::nearest_away:
            return {half, half};
        case Rounding::nearest_toward_zero:
            return {half - 1, half - 1};
        case Rounding::toward_zero:
            return {0, 0};
        case Rounding::toward_positive:
            return rule.negative ? Increments{0, 0} : Increments{all_but_one, all_but_one};
        case Rounding::toward_negative:
            return rule.negative ? Increments{all_but_one, all_but_one} : Increments{0, 0};
        case Rounding::away_from_zero:
            return {all_but_one, all_but_one};
        case Rounding::to_odd:
            return {all_but_one, 0};
        case Rounding::stochastic: {
            const std::uint64_t bits = aligned_random_bits(rule.random, dropped);
            return {bits, bits};
        }
    }
    return {0, 0};
}

// Does the mode turn values beyond the largest finite one into an overflow?
MX_FOLDED constexpr bool leaves_range(const RoundingRule& rule) {
    switch (rule.rounding) {
        case Rounding::toward_zero:
        case Rounding::to_odd:
            return false;
        case Rounding::toward_positive:
            return !rule.negative;
        case Rounding::toward_negative:
            return rule.negative;
        default:
            return true;
    }
}

// Where a significand is cut to a format's precision: the same for all significands of one width
// and exponent. Rounding one takes no branch then, so that a loop over many is a vector loop.
struct Cut {
    int dropped;   // low bits dropped, up to 63: significands stay below 2^62, so beyond that
    int appended;  // nothing changes; or zeros appended
    Increments increments;
    int quantum;  // of the count that is left
    friend constexpr bool operator==(const Cut&, const Cut&) = default;
};

struct Leading {  // of a significand * 2^exponent
    int exponent;
    int width;  // bit_width(significand)
};

MX_FOLDED constexpr Cut cut_of(const ElementFormat& format, const RoundingRule& rule,
                               Leading leading) {
    const int quantum_min = format.quantum_exponent_min();
    const int quantum_of_top = leading.exponent + leading.width - 1 - format.mantissa_bits;
    const int quantum = quantum_of_top < quantum_min ? quantum_min : quantum_of_top;
    const int shift = quantum - leading.exponent;
    const int dropped = shift < 0 ? 0 : shift < 63 ? shift : 63;
    return {dropped, shift < 0 ? -shift : 0, increments_of(rule, dropped), quantum};
}

// The rounded count of quanta. A carry makes it one bit longer and needs no other care.
MX_FOLDED constexpr std::uint64_t count_of(const Cut& cut, std::uint64_t significand) {
    const std::uint64_t kept_is_odd = (significand >> cut.dropped) & 1;
    const std::uint64_t more = (cut.increments.odd - cut.increments.even) & (0 - kept_is_odd);
    return ((significand + cut.increments.even + more) >> cut.dropped) << cut.appended;
}

// From a count to a code with its sign.
//
// Codes count quanta: within a binade each code is one quantum, and each binade above the lowest
// starts 2^mantissa_bits codes later. A carry out of the mantissa therefore lands on the next
// binade's first code by itself.
struct Target {
    Cut cut;
    std::uint32_t code_of_none;  // the magnitude code less the count
    std::uint32_t code_max;
    std::uint32_t code_beyond;  // what any larger one becomes
    std::uint32_t flipped;      // (code ^ flipped) - flipped, then `set`: the sign
    std::uint32_t set;
    std::uint32_t set_of_zero;  // the same where the code is 0: a -0 may be no number
    friend constexpr bool operator==(const Target&, const Target&) = default;
};

MX_FOLDED constexpr Target target_of(const ElementFormat& format, Overflow overflow,
                                     const RoundingRule& rule, Leading leading) {
    Target target{};
    target.cut = cut_of(format, rule, leading);
    const bool is_twos_complement = format.negatives != Negatives::sign_bit;
    target.flipped = rule.negative && is_twos_complement ? ~std::uint32_t{0} : 0;
    target.set = rule.negative && !is_twos_complement ? format.code_sign_mask() : 0;
    target.set_of_zero = format.has_negative_zero() ? target.set : 0;
    target.code_max = code_max_finite(format, rule);
    target.code_beyond =
        leaves_range(rule) ? code_of_overflow(format, overflow, rule) : target.code_max;
    const std::uint32_t hidden_bit = std::uint32_t{1} << format.mantissa_bits;
    // One binade past the last is beyond the range, and so is every later one.
    const int binade = target.cut.quantum - format.quantum_exponent_min();
    const int binade_last = 1 << format.exponent_bits;
    target.code_of_none =
        static_cast<std::uint32_t>(binade < binade_last ? binade : binade_last) * hidden_bit;
    if (format.has_zero()) return target;
    // Without a zero, codes count from the first binade, and what lies below it is taken to it.
    target.code_of_none -= hidden_bit;
    // A tie goes to the even code. Where a binade is one code long, that is not the even count.
    if ((target.code_of_none & 1) != 0) {
        const Increments counted = target.cut.increments;
        target.cut.increments = {counted.odd, counted.even};
    }
    if (leading.exponent + leading.width > format.quantum_exponent_min()) return target;
    target.cut = {63, 0, {0, 0}, 0};
    target.code_of_none = 0;
    return target;
}

// The code of a finite significand that is not 0 and has the width that the target was made for.
MX_FOLDED constexpr Code round_to(const ElementFormat& format, const Target& target,
                                  std::uint64_t significand) {
    const std::uint32_t whole = format.code_sign_mask() | format.code_magnitude_mask();
    const std::uint32_t count = static_cast<std::uint32_t>(count_of(target.cut, significand));
    const std::uint32_t counted = target.code_of_none + count;
    const std::uint32_t code = counted <= target.code_max ? counted : target.code_beyond;
    const std::uint32_t set = code == 0 ? target.set_of_zero : target.set;
    return Code{(((code ^ target.flipped) - target.flipped) & whole) | set};
}

// A magnitude cut to a format's precision and rounded: count * 2^quantum, the range not checked.
struct Units {
    std::uint64_t count;
    int quantum;
};

// The significand is finite and not 0.
MX_FOLDED constexpr Units round_to_units(const ElementFormat& format, Rounding rounding,
                                         const Unpacked& value) {
    const Leading leading{value.exponent, bit_width(value.significand)};
    const Cut cut = cut_of(format, {rounding, {}, value.negative}, leading);
    return {count_of(cut, value.significand), cut.quantum};
}

MX_FOLDED constexpr Code with_sign(const ElementFormat& format, std::uint32_t magnitude,
                                   const Unpacked& value) {
    return value.negative ? format.negative(magnitude) : format.positive(magnitude);
}

// A format without sign has no code below zero's.
MX_FOLDED constexpr bool begins_at_zero(Overflow overflow, const Unpacked& value) {
    return overflow == Overflow::saturate || (value.kind == Kind::finite && value.significand == 0);
}

// As exact::round: NaN becomes code_nan() with sign 0.
MX_FOLDED constexpr Code round(const ElementFormat& format, Rounding rounding, Overflow overflow,
                               const Unpacked& value, RandomBits random = {}) {
    if (value.kind == Kind::nan) return format.positive(format.code_nan());
    if (value.negative && format.sign_bits == 0 && format.has_zero())
        return format.positive(begins_at_zero(overflow, value) ? 0 : format.code_nan());
    const RoundingRule rule{rounding, random, value.negative};
    if (value.kind == Kind::infinity)
        return with_sign(format, code_of_overflow(format, overflow, rule), value);
    if (value.significand == 0) return with_sign(format, 0, value);
    const Leading leading{value.exponent, bit_width(value.significand)};
    return round_to(format, target_of(format, overflow, rule, leading), value.significand);
}

// A NaN that is taken for a number: the quiet NaN of binary32 reads 1.5 * 2^128.
//
//   exponent field  128 + bias   mantissa  100..   cut to the bits of a magnitude
MX_FOLDED constexpr std::uint32_t code_of_nan_as_number(const ElementFormat& format) {
    const std::uint32_t field = static_cast<std::uint32_t>(128 + format.exponent_bias);
    const std::uint32_t half = (std::uint32_t{1} << format.mantissa_bits) / 2;
    return ((field << format.mantissa_bits) | half) & format.code_magnitude_mask();
}

// A quiet NaN with the upper bits of a payload. Formats without infinity have one NaN.
//
//   payload  pppppp...   its upper mantissa_bits   1pp..   under an exponent field of ones
MX_FOLDED constexpr std::uint32_t code_of_quiet_nan(const ElementFormat& format,
                                                    std::uint32_t payload) {
    if (!format.has_infinity()) return format.code_nan();
    const std::uint32_t quiet = payload | std::uint32_t{1} << 31;
    return format.code_infinity() | quiet >> (32 - format.mantissa_bits);
}

MX_FOLDED constexpr Code code_of_nan(NanCode nan_code, const ElementFormat& format,
                                     const Unpacked& value) {
    switch (nan_code) {
        case NanCode::sign_kept:
            return with_sign(format, format.code_nan(), value);
        case NanCode::largest:
            return format.positive(format.code_max_finite());
        case NanCode::as_number:
            if (!format.has_nan()) return format.positive(code_of_nan_as_number(format));
            break;
        case NanCode::zero:
            return format.positive(0);
        case NanCode::quiet_bit:
            return format.positive(code_of_quiet_nan(format, 0));
        case NanCode::payload_kept:
            return with_sign(format, code_of_quiet_nan(format, value.payload), value);
        case NanCode::of_overflow_too:
        case NanCode::positive_all_ones:
            break;
    }
    return format.positive(format.code_nan());
}

MX_FOLDED constexpr bool loses_sign(SignOfZero rule, const Unpacked& value) {
    switch (rule) {
        case SignOfZero::kept:
            return false;
        case SignOfZero::dropped:
            return true;
        case SignOfZero::input_dropped:
            return value.significand == 0;
        case SignOfZero::underflow_dropped:
            return value.significand != 0;
    }
    return false;
}

// As a quantizer writes an element: its rounding, overflow, subnormals, NaN code and sign of zero.
MX_FOLDED constexpr Code round_element(const Quantizer& quantizer, const ElementFormat& format,
                                       const Unpacked& value, RandomBits random = {}) {
    if (value.kind == Kind::nan) return code_of_nan(quantizer.nan_code, format, value);
    Code code =
        round(format, quantizer.element_rounding, quantizer.element_overflow, value, random);
    if (quantizer.nan_code == NanCode::of_overflow_too && format.is_nan(code))
        code = format.positive(format.code_nan());
    if (quantizer.subnormals == Subnormals::outputs_flushed && format.is_subnormal(code))
        code = with_sign(format, 0, value);
    if (format.is_zero(code) && loses_sign(quantizer.sign_of_zero, value))
        return format.positive(0);
    return code;
}

}  // namespace mx::fast
