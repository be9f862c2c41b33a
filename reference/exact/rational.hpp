// Fractions for the exact oracle. Boost is asked only for integer arithmetic on them: it never
// converts to or from a floating-point type, because those conversions round wrongly in some
// versions.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <string>

namespace mx::exact {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

// 2^exponent, for any exponent.
Rational power_of_two(int exponent);

// units * 2^exponent, for any exponent.
Rational times_power_of_two(const Integer& units, int exponent);

// The largest e with 2^e <= value. The value must be positive.
int floor_log2(const Rational& value);

// "29/16", "7", "-3/4".
std::string to_fraction(const Rational& value);

// The value in decimal, all digits if it has at most `digits` significant ones, else cut there and
// marked with "...". Dyadic fractions of moderate size end; others are cut.
std::string to_decimal(const Rational& value, int digits = 12);

}  // namespace mx::exact
