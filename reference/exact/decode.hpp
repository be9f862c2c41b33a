// What a code stands for, by the definition of its format. The ground of the exact oracle.
#pragma once

#include <cstdint>

#include "reference/exact/rational.hpp"
#include "reference/spec/element_format.hpp"

namespace mx::exact {

// An exact number, an infinity or a NaN. `magnitude` is meaningful for finite values only, and
// `payload` for a NaN: its mantissa field, as a part of 2^M.
struct Value {
    enum class Kind { finite, infinity, nan };
    Kind kind = Kind::finite;
    bool negative = false;  // also of zero, infinity and NaN
    Rational magnitude = 0;
    Rational payload = 0;

    bool is_nan() const { return kind == Kind::nan; }
    bool is_infinity() const { return kind == Kind::infinity; }
    bool is_finite() const { return kind == Kind::finite; }
};

// The magnitude that the fields of a magnitude code spell, as if the format had no special codes.
// One past the largest finite code is then the next value of an unbounded format, which is where
// rounding to nearest looks for the border of overflow (IEEE 754-2019 section 4.3.1).
Rational magnitude_of(const ElementFormat& format, std::uint32_t magnitude_code);

Value decode(const ElementFormat& format, Code code);

// "1.75", "-0", "inf", "-nan".
std::string to_text(const Value& value);

}  // namespace mx::exact
