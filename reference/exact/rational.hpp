// Fractions for the exact oracle. Boost is asked for integers only, and never converts to or from a
// floating-point type, because those conversions round wrongly in some versions.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <concepts>
#include <string>

namespace mx::exact {

using Integer = boost::multiprecision::cpp_int;

// units * 2^exponent / divisor, in lowest terms: `units` is odd or the fraction is 0, `divisor` is
// odd and positive, and they have no common factor. So equal fractions have equal members. Nearly
// every number here is a binary one, whose divisor is 1: a fraction of two integers would spend its
// time on the common factors of powers of two.
class Rational {
public:
    Rational() = default;
    Rational(const Integer& whole) : Rational(whole, 0, 1) {}
    template <std::integral Whole>
    Rational(Whole whole) : Rational(Integer(whole)) {}
    Rational(const Integer& numerator, const Integer& denominator)  // not 0
        : Rational(numerator, 0, denominator) {}

    static Rational binary(const Integer& units, int exponent) { return {units, exponent, 1}; }

    friend Integer numerator(const Rational& value);
    friend Integer denominator(const Rational& value);

    friend Rational operator-(const Rational& value);
    friend Rational operator+(const Rational& left, const Rational& right);
    friend Rational operator-(const Rational& left, const Rational& right);
    friend Rational operator*(const Rational& left, const Rational& right);
    friend Rational operator/(const Rational& left, const Rational& right);  // right is not 0
    Rational& operator+=(const Rational& other) { return *this = *this + other; }
    Rational& operator-=(const Rational& other) { return *this = *this - other; }
    Rational& operator*=(const Rational& other) { return *this = *this * other; }
    Rational& operator/=(const Rational& other) { return *this = *this / other; }

    friend bool operator==(const Rational& left, const Rational& right) = default;
    friend std::strong_ordering operator<=>(const Rational& left, const Rational& right);

    friend Rational abs(const Rational& value);
    friend int floor_log2(const Rational& value);
    friend Integer whole_part(const Rational& value);

private:
    // In any terms.
    Rational(const Integer& units, int exponent, const Integer& divisor);

    Integer units_ = 0;
    int exponent_ = 0;
    Integer divisor_ = 1;
};

// Without its fraction: 3 of 7/2 and of -7/2 -3.
Integer whole_part(const Rational& value);

// 2^exponent, for any exponent.
Rational power_of_two(int exponent);

// units * 2^exponent, for any exponent.
Rational times_power_of_two(const Integer& units, int exponent);

// The largest e with 2^e <= value. The value must be positive.
int floor_log2(const Rational& value);

// "29/16", "7", "-3/4".
std::string to_fraction(const Rational& value);

// The same where it is short, else an odd number times a power of two: "2^-149", "-3 * 2^-134". Of
// a value that is no multiple of a power of two always the fraction.
std::string to_short_fraction(const Rational& value);

// The value in decimal, all digits if it has at most `digits` significant ones, else cut there and
// marked with "...". Dyadic fractions of moderate size end; others are cut.
std::string to_decimal(const Rational& value, int digits = 12);

}  // namespace mx::exact
