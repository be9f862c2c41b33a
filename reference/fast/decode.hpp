// From a code to an integer significand and a power of two.
// Proved by reference/proof/prove_decode.cpp.
#pragma once

#include <cstdint>

#include "reference/fast/bits.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::fast {

enum class Kind : std::uint8_t { finite, infinity, nan };

// significand * 2^exponent, not normalised; zero has significand 0 and keeps its sign. Of a NaN
// `payload` has the mantissa field, its first bit as the highest of the word.
struct Unpacked {
    Kind kind = Kind::finite;
    bool negative = false;
    int exponent = 0;
    std::uint64_t significand = 0;
    std::uint32_t payload = 0;
};

MX_FOLDED constexpr std::uint32_t payload_of(const ElementFormat& format, Code nan) {
    const std::uint64_t mantissa = nan.bits & format.code_mantissa_mask();
    return static_cast<std::uint32_t>(mantissa << (32 - format.mantissa_bits));
}

MX_FOLDED constexpr Unpacked unpack(const ElementFormat& format, Code code) {
    const bool negative = format.is_negative(code);
    if (format.is_nan(code)) return {Kind::nan, negative, 0, 0, payload_of(format, code)};
    if (format.is_infinity(code)) return {Kind::infinity, negative, 0, 0};
    const std::uint32_t magnitude = format.magnitude(code);
    const int field = static_cast<int>(magnitude >> format.mantissa_bits);
    const std::uint32_t mantissa = magnitude & format.code_mantissa_mask();
    const std::uint32_t hidden_bit = std::uint32_t{1} << format.mantissa_bits;
    if (field == 0 && format.has_zero())
        return {Kind::finite, negative, format.quantum_exponent_min(), mantissa};
    return {Kind::finite, negative, field - format.exponent_bias - format.mantissa_bits,
            hidden_bit | mantissa};
}

// The value of an input as a quantizer reads it: a subnormal may be flushed to a zero of its sign.
MX_FOLDED constexpr Unpacked read_input(Subnormals subnormals, const ElementFormat& input,
                                        Code code) {
    Unpacked value = unpack(input, code);
    const bool flushed = subnormals == Subnormals::inputs_flushed && input.is_subnormal(code);
    if (flushed) value.significand = 0;
    return value;
}

}  // namespace mx::fast
