// See rational.hpp.
#include "reference/exact/rational.hpp"

#include <algorithm>

#include "reference/spec/assert.hpp"

namespace mx::exact {

namespace {

int trailing_zeros(const Integer& value) {
    return static_cast<int>(lsb(value));
}

Integer shifted(const Integer& value, int left) {
    return left >= 0 ? Integer(value << static_cast<unsigned>(left))
                     : Integer(value >> static_cast<unsigned>(-left));
}

}  // namespace

Rational::Rational(const Integer& units, int exponent, const Integer& divisor)
    : units_(units), exponent_(exponent), divisor_(divisor) {
    MX_ASSERT(divisor_ != 0);
    if (units_ == 0) {
        exponent_ = 0;
        divisor_ = 1;
        return;
    }
    if (divisor_ != 1) {
        if (divisor_ < 0) {
            units_ = -units_;
            divisor_ = -divisor_;
        }
        const int twos = trailing_zeros(divisor_);
        divisor_ >>= static_cast<unsigned>(twos);
        exponent_ -= twos;
        const Integer common = gcd(units_, divisor_);
        units_ /= common;
        divisor_ /= common;
    }
    const int twos = trailing_zeros(abs(units_));
    units_ >>= static_cast<unsigned>(twos);
    exponent_ += twos;
}

Integer numerator(const Rational& value) {
    return shifted(value.units_, std::max(value.exponent_, 0));
}

Integer denominator(const Rational& value) {
    return shifted(value.divisor_, std::max(-value.exponent_, 0));
}

Rational operator-(const Rational& value) {
    Rational negated = value;
    negated.units_ = -negated.units_;
    return negated;
}

Rational abs(const Rational& value) {
    return value.units_ < 0 ? -value : value;
}

Rational operator+(const Rational& left, const Rational& right) {
    const int exponent = std::min(left.exponent_, right.exponent_);
    const Integer left_units = shifted(left.units_, left.exponent_ - exponent);
    const Integer right_units = shifted(right.units_, right.exponent_ - exponent);
    if (left.divisor_ == right.divisor_) return {left_units + right_units, exponent, left.divisor_};
    return {left_units * right.divisor_ + right_units * left.divisor_, exponent,
            left.divisor_ * right.divisor_};
}

Rational operator-(const Rational& left, const Rational& right) {
    return left + -right;
}

Rational operator*(const Rational& left, const Rational& right) {
    return {left.units_ * right.units_, left.exponent_ + right.exponent_,
            left.divisor_ * right.divisor_};
}

Rational operator/(const Rational& left, const Rational& right) {
    MX_ASSERT(right.units_ != 0);
    return {left.units_ * right.divisor_, left.exponent_ - right.exponent_,
            left.divisor_ * right.units_};
}

std::strong_ordering operator<=>(const Rational& left, const Rational& right) {
    const int order = Rational(left - right).units_.sign();
    return order <=> 0;
}

Integer whole_part(const Rational& value) {
    return numerator(value) / denominator(value);
}

Rational power_of_two(int exponent) {
    return times_power_of_two(1, exponent);
}

Rational times_power_of_two(const Integer& units, int exponent) {
    return Rational::binary(units, exponent);
}

int floor_log2(const Rational& value) {
    MX_ASSERT(value > 0);
    // The guess from the lengths of numerator and denominator is at most one too high.
    const int units_length = static_cast<int>(msb(value.units_));
    const int divisor_length = static_cast<int>(msb(value.divisor_));
    int exponent = value.exponent_ + units_length - divisor_length;
    if (power_of_two(exponent) > value) --exponent;
    MX_ASSERT(power_of_two(exponent) <= value);
    MX_ASSERT(value < power_of_two(exponent + 1));
    return exponent;
}

std::string to_fraction(const Rational& value) {
    if (denominator(value) == 1) return numerator(value).str();
    return numerator(value).str() + "/" + denominator(value).str();
}

std::string to_short_fraction(const Rational& value) {
    constexpr std::size_t length_max = 25;
    std::string fraction = to_fraction(value);
    const Integer units = numerator(value), divisor = denominator(value);
    if (fraction.size() <= length_max || units == 0 || lsb(divisor) != msb(divisor))
        return fraction;
    const std::string sign = units < 0 ? "-" : "";
    const Integer magnitude = units < 0 ? Integer(-units) : units;
    const unsigned twos = static_cast<unsigned>(lsb(magnitude));
    const Integer odd = magnitude >> twos;
    const int exponent = static_cast<int>(twos) - static_cast<int>(msb(divisor));
    const std::string power = "2^" + std::to_string(exponent);
    return sign + (odd == 1 ? power : odd.str() + " * " + power);
}

namespace {

// Decimal exponent d with 10^d <= value < 10^(d+1).
int floor_log10(const Rational& value) {
    int exponent = 0;
    Rational power(1);
    while (power > value) {
        power /= 10;
        --exponent;
    }
    while (power * 10 <= value) {
        power *= 10;
        ++exponent;
    }
    return exponent;
}

Rational power_of_ten(int exponent) {
    Integer power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; --i) power *= 10;
    return exponent < 0 ? Rational(Integer(1), power) : Rational(power);
}

// Writes digits * 10^(exponent - digits.size() + 1) without needless zeros.
std::string place_point(std::string digits, int exponent) {
    const int count = static_cast<int>(digits.size());
    if (exponent < -5 || exponent > 15) {
        std::string text = digits.substr(0, 1);
        if (count > 1) text += '.' + digits.substr(1);
        return text + "e" + std::to_string(exponent);
    }
    if (exponent < 0)
        return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const std::size_t integer_digits = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= integer_digits)
        return digits + std::string(integer_digits - digits.size(), '0');
    return digits.substr(0, integer_digits) + "." + digits.substr(integer_digits);
}

}  // namespace

std::string to_decimal(const Rational& value, int digits) {
    if (value == 0) return "0";
    if (value < 0) return '-' + to_decimal(-value, digits);
    const int exponent = floor_log10(value);
    const Rational scaled = value * power_of_ten(digits - 1 - exponent);
    const Integer whole = numerator(scaled) / denominator(scaled);
    std::string text = whole.str();
    while (text.size() > 1 && text.back() == '0') text.pop_back();
    return place_point(text, exponent) + (Rational(whole) == scaled ? "" : "...");
}

}  // namespace mx::exact
