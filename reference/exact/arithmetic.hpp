// Products and sums of exact values, with what IEEE 754 says of NaN, Inf and signs of zero, and
// nothing rounded.
#pragma once

#include "reference/exact/decode.hpp"

namespace mx::exact {

Value number(const Rational& value);  // of any sign; zero is +0
Rational with_sign(const Value& value);
bool is_zero(const Value& value);

// NaN if either is, for 0 * Inf and for Inf - Inf. A zero sum is +0 unless both are -0.
Value times(const Value& left, const Value& right);
Value plus(const Value& left, const Value& right);

}  // namespace mx::exact
