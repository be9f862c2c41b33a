// What a floating-point element format is: eight primary facts, and everything derived from them.
// Both oracles read it. E8M0, binary32, bfloat16 and binary16 are rows of the same kind as E4M3.
#pragma once

#include <cstdint>
#include <string_view>

#include "reference/spec/assert.hpp"

namespace mx {

// The bits of one element, right-aligned. A struct, so that nobody adds two of them.
struct Code {
    std::uint32_t bits = 0;
    friend constexpr bool operator==(Code, Code) = default;
};

// How the codes above the largest finite value are spent.
enum class Specials {
    none,              // every code is a finite value
    nan_only,          // the all-ones magnitude is NaN; there is no infinity (E4M3, E8M0)
    infinity_and_nan,  // IEEE 754: all-ones exponent is Inf (mantissa 0) or NaN (mantissa not 0)
    // The code that would be -0 is NaN; all others are finite values, and zero has no sign (FNUZ).
    nan_for_negative_zero,
};

// What an exponent field of zero means.
enum class ZeroExponent {
    subnormal,  // IEEE 754: zero and subnormals
    normal,     // one more binade of normal values; the format has no zero (E8M0)
};

// How a negative value is written.
enum class Negatives {
    sign_bit,                   // a sign bit above the magnitude; there is a -0
    twos_complement,            // 2^bits - magnitude; the most negative code is a value
    twos_complement_symmetric,  // the same, but nothing is rounded to the most negative code
};

struct ElementFormat {
    std::string_view name;
    int sign_bits;  // 0 or 1
    int exponent_bits;
    int mantissa_bits;
    int exponent_bias;
    ZeroExponent zero_exponent;
    Specials specials;
    std::string_view source;
    Negatives negatives = Negatives::sign_bit;

    // The same codes for the same values; neither the name nor the source counts.
    friend constexpr bool operator==(const ElementFormat& a, const ElementFormat& b) {
        return a.sign_bits == b.sign_bits && a.exponent_bits == b.exponent_bits &&
               a.mantissa_bits == b.mantissa_bits && a.exponent_bias == b.exponent_bias &&
               a.zero_exponent == b.zero_exponent && a.specials == b.specials &&
               a.negatives == b.negatives;
    }

    MX_FOLDED constexpr int code_bits() const { return sign_bits + exponent_bits + mantissa_bits; }
    // In memory, unpacked.
    MX_FOLDED constexpr int code_bytes() const {
        return code_bits() > 16 ? 4 : (code_bits() + 7) / 8;
    }
    // Below a code in its word of memory, and without meaning: TF32 has 19 bits of a word of 32.
    MX_FOLDED constexpr int spare_bits() const { return code_bits() > 16 ? 32 - code_bits() : 0; }
    MX_FOLDED constexpr bool has_zero() const { return zero_exponent == ZeroExponent::subnormal; }
    MX_FOLDED constexpr bool has_infinity() const { return specials == Specials::infinity_and_nan; }
    MX_FOLDED constexpr bool has_nan() const { return specials != Specials::none; }

    // Magnitude: exponent and mantissa fields together, sign taken off. Larger magnitude codes mean
    // larger values, through every border between binades.
    MX_FOLDED constexpr std::uint32_t code_magnitude_mask() const {
        return (std::uint32_t{1} << (exponent_bits + mantissa_bits)) - 1;
    }
    MX_FOLDED constexpr std::uint32_t code_sign_mask() const {
        return sign_bits == 0 ? 0 : code_magnitude_mask() + 1;
    }
    MX_FOLDED constexpr std::uint32_t code_mantissa_mask() const {
        return (std::uint32_t{1} << mantissa_bits) - 1;
    }
    // The magnitude code with all exponent bits set and mantissa 0; infinity where there is one.
    MX_FOLDED constexpr std::uint32_t code_infinity() const {
        return code_magnitude_mask() - code_mantissa_mask();
    }
    MX_FOLDED constexpr std::uint32_t code_max_finite() const {
        if (specials == Specials::infinity_and_nan) return code_infinity() - 1;
        if (specials == Specials::nan_only) return code_magnitude_mask() - 1;
        return code_magnitude_mask();
    }
    // The same below zero, as a magnitude.
    MX_FOLDED constexpr std::uint32_t code_max_finite_negative() const {
        return negatives == Negatives::twos_complement ? code_magnitude_mask() + 1
                                                       : code_max_finite();
    }
    // The NaN this project writes where a dialect says no more than "NaN": sign 0, all ones; or
    // the only one there is. In a format without NaN that is the largest value.
    MX_FOLDED constexpr std::uint32_t code_nan() const {
        return specials == Specials::nan_for_negative_zero ? code_sign_mask()
                                                           : code_magnitude_mask();
    }

    // A code as sign and magnitude, and back. The sign of a zero is lost where there is no -0.
    MX_FOLDED constexpr std::uint32_t magnitude(Code code) const {
        const std::uint32_t whole = code_sign_mask() | code_magnitude_mask();
        if (negatives != Negatives::sign_bit && is_negative(code)) return (0 - code.bits) & whole;
        return code.bits & code_magnitude_mask();
    }
    MX_FOLDED constexpr Code positive(std::uint32_t magnitude) const { return Code{magnitude}; }
    MX_FOLDED constexpr Code negative(std::uint32_t magnitude) const {
        const std::uint32_t whole = code_sign_mask() | code_magnitude_mask();
        if (negatives != Negatives::sign_bit) return Code{(0 - magnitude) & whole};
        if (specials == Specials::nan_for_negative_zero && magnitude == 0) return Code{0};
        return Code{magnitude | code_sign_mask()};
    }

    MX_FOLDED constexpr bool is_nan(Code code) const {
        const std::uint32_t magnitude = code.bits & code_magnitude_mask();
        if (specials == Specials::infinity_and_nan) return magnitude > code_infinity();
        if (specials == Specials::nan_for_negative_zero) return magnitude == 0 && is_negative(code);
        return specials == Specials::nan_only && magnitude == code_magnitude_mask();
    }
    MX_FOLDED constexpr bool is_infinity(Code code) const {
        return has_infinity() && (code.bits & code_magnitude_mask()) == code_infinity();
    }
    MX_FOLDED constexpr bool is_negative(Code code) const {
        return (code.bits & code_sign_mask()) != 0;
    }
    MX_FOLDED constexpr bool is_zero(Code code) const {
        return has_zero() && magnitude(code) == 0 && !is_nan(code);
    }
    MX_FOLDED constexpr bool has_negative_zero() const {
        return sign_bits == 1 && has_zero() && negatives == Negatives::sign_bit &&
               specials != Specials::nan_for_negative_zero;
    }
    // A value below the smallest normal one, zero not among them. An integer format has no normals.
    MX_FOLDED constexpr bool is_subnormal(Code code) const {
        return exponent_bits > 0 && has_zero() && magnitude(code) != 0 &&
               magnitude(code) <= code_mantissa_mask();
    }

    // Exponent of the smallest normal value: its leading bit is 2^exponent_min. An integer format
    // has no exponent field: all its codes are of the lowest binade, as if they were subnormals.
    MX_FOLDED constexpr int exponent_min() const { return (has_zero() ? 1 : 0) - exponent_bias; }
    // Exponent of the largest finite value, the "emax" of OCP MX 6.3.
    MX_FOLDED constexpr int exponent_max() const {
        return static_cast<int>(code_max_finite() >> mantissa_bits) - exponent_bias;
    }
    // Exponent of the least significant mantissa bit in the lowest binade.
    MX_FOLDED constexpr int quantum_exponent_min() const { return exponent_min() - mantissa_bits; }
};

}  // namespace mx
