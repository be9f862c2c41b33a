// Where a binary32 logarithm gives a whole number that the true one is not: several libraries take
// floor(log2f(x)) or ceil(log2f(x)) for an exponent. Here log2f is the true logarithm rounded once.
#pragma once

#include "reference/exact/rational.hpp"

namespace mx::exact {

// Is log2(value), rounded to nearest in binary32, exactly `whole`? The value is positive and not a
// power of two, and `whole` is the next whole number below or above its logarithm, within
// binary32's range of exponents.
bool log2f_rounds_to(int whole, const Rational& value);

// log2(value) rounded to nearest in binary32, and that to a whole number, ties away from zero. The
// value is positive.
int rounded_log2f(const Rational& value);

}  // namespace mx::exact
