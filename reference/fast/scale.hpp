// The shared scale of a block from its amax.
// Proved by reference/proof/prove_scale.cpp.
#pragma once

#include "reference/fast/round.hpp"

namespace mx::fast {

// Rows of the tables are copied into local constants here and in the proofs: compilers fold those
// into the code, but load the fields of a table's row again for every value.

// The binary32 code of fl32(1 / largest element value).
//
// 1 / (m * 2^e) = (2^60 / m) * 2^(-60 - e). The quotient keeps more than 50 bits; a sticky lowest
// bit stands for the rest of the division, so the one rounding to 24 bits sees what it needs.
MX_FOLDED constexpr Code reciprocal_of_largest(const ElementFormat& element) {
    const Unpacked largest = unpack(element, Code{element.code_max_finite()});
    const std::uint64_t one = std::uint64_t{1} << 60;
    const std::uint64_t quotient = one / largest.significand;
    const std::uint64_t sticky = one % largest.significand != 0 ? 1 : 0;
    constexpr ElementFormat f32 = formats::f32;
    return round(f32, Rounding::nearest_even, Overflow::overflow,
                 {Kind::finite, false, -61 - largest.exponent, quotient * 2 + sticky});
}

static_assert(reciprocal_of_largest(formats::e4m3).bits == 0x3B124925);
static_assert(reciprocal_of_largest(formats::e5m2).bits == 0x37924925);

// binary32 with a shorter mantissa: where even_amax rounds the amax.
MX_FOLDED constexpr ElementFormat shortened_f32(int mantissa_bits) {
    constexpr ElementFormat f32 = formats::f32;
    return {"",
            f32.sign_bits,
            f32.exponent_bits,
            mantissa_bits,
            f32.exponent_bias,
            f32.zero_exponent,
            f32.specials,
            ""};
}

MX_FOLDED constexpr Unpacked rounded_value(const ElementFormat& format, Rounding rounding,
                                           const Unpacked& value) {
    return unpack(format, round(format, rounding, Overflow::overflow, value));
}

// fl32(amax * fl32(1 / largest element value)). 24 bits by 24 bits fit the 64-bit significand, and
// a factor below one cannot leave the range of binary32.
MX_FOLDED constexpr Unpacked ratio_to_largest(const ElementFormat& element, const Unpacked& amax) {
    if (amax.kind != Kind::finite || amax.significand == 0) return amax;
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked reciprocal = unpack(f32, reciprocal_of_largest(element));
    const Units ratio = round_to_units(f32, Rounding::nearest_even,
                                       {Kind::finite, false, amax.exponent + reciprocal.exponent,
                                        amax.significand * reciprocal.significand});
    return {Kind::finite, false, ratio.quantum, ratio.count};
}

// What a scale rule rounds to a power of two, and in which direction.
struct ScaleArgument {
    Unpacked value;
    Rounding rounding;
};

MX_FOLDED constexpr ScaleArgument scale_argument(ScaleRule rule, const ElementFormat& element,
                                                 const Unpacked& amax) {
    ScaleArgument argument{amax, Rounding::toward_zero};
    switch (rule) {
        case ScaleRule::floor_amax:
            break;
        case ScaleRule::ceil_amax:
            argument.rounding = Rounding::toward_positive;
            break;
        case ScaleRule::even_amax:
            argument.value =
                rounded_value(shortened_f32(element.mantissa_bits), Rounding::nearest_away, amax);
            break;
        case ScaleRule::round_up_ratio:
            return {ratio_to_largest(element, amax), Rounding::toward_positive};
    }
    argument.value.exponent -= element.exponent_max();
    return argument;
}

MX_FOLDED constexpr Code round_scale(ScaleOverflow scale_overflow, const ElementFormat& scale,
                                     const ScaleArgument& argument) {
    const Overflow overflow =
        scale_overflow == ScaleOverflow::nan ? Overflow::overflow : Overflow::saturate;
    return round(scale, argument.rounding, overflow, argument.value);
}

// `amax` is not negative; NaN gives the NaN scale.
MX_FOLDED constexpr Code encode_scale(const Dialect& dialect, const BlockFormat& format,
                                      const Unpacked& amax) {
    return round_scale(dialect.scale_overflow, format.scale(),
                       scale_argument(dialect.scale_rule, format.element(), amax));
}

}  // namespace mx::fast
