// From an exact value to a code: find the two neighbours among all values of the format, then apply
// the rounding mode as IEEE 754 words it.
#pragma once

#include <cstdint>

#include "reference/exact/decode.hpp"
#include "reference/spec/quantizer.hpp"
#include "reference/spec/rounding.hpp"

namespace mx::exact {

// Where a magnitude lies between its neighbours.
enum class Position { exact, below_half, half, above_half };

// One rounding, with its reasons; `mxcheck explain` prints it.
struct Rounded {
    ElementFormat format = {};
    Code code;
    std::uint32_t code_below = 0;  // magnitude code of the neighbour toward zero
    Rational value_below, value_above;
    Position position = Position::exact;
    bool overflowed = false;   // beyond the largest finite value after rounding
    bool underflowed = false;  // below the smallest value of a format without zero
};

// Rounds a value. NaN becomes code_nan() with sign 0. A format without zero (E8M0) takes everything
// below its smallest value to that value, and must not be given negative ones. Any other format
// without sign (UE5M3) begins at zero: what is below is 0 where it saturates, else NaN, and -0 is
// 0. `random` is read by stochastic rounding alone.
Rounded round_with_reasons(const ElementFormat& format, Rounding rounding, Overflow overflow,
                           const Value& value, RandomBits random = {});
Code round(const ElementFormat& format, Rounding rounding, Overflow overflow, const Value& value,
           RandomBits random = {});

// The rounded value itself; beyond the range Inf, or NaN where there is no Inf.
Value rounded_value(const ElementFormat& format, Rounding rounding, const Value& value);

// The value of an input as a quantizer reads it: a subnormal may be flushed to a zero of its sign.
Value read_input(Subnormals subnormals, const ElementFormat& input, Code code);

// Rounds an element as a quantizer writes it: its rounding, overflow, subnormals, NaN code and sign
// of zero.
Code round_element(const Quantizer& quantizer, const ElementFormat& format, const Value& value,
                   RandomBits random = {});

}  // namespace mx::exact
