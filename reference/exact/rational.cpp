// See rational.hpp.
#include "reference/exact/rational.hpp"

#include "reference/spec/assert.hpp"

namespace mx::exact {

Rational power_of_two(int exponent) {
    return times_power_of_two(1, exponent);
}

Rational times_power_of_two(const Integer& units, int exponent) {
    const Integer power = Integer(1) << static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
    if (exponent < 0) return Rational(units, power);
    const Integer whole = units * power;
    return Rational(whole);
}

int floor_log2(const Rational& value) {
    MX_ASSERT(value > 0);
    // The guess from the lengths of numerator and denominator is at most one too high.
    const int numerator_length = static_cast<int>(msb(numerator(value)));
    const int denominator_length = static_cast<int>(msb(denominator(value)));
    int exponent = numerator_length - denominator_length;
    if (power_of_two(exponent) > value) --exponent;
    MX_ASSERT(power_of_two(exponent) <= value);
    MX_ASSERT(value < power_of_two(exponent + 1));
    return exponent;
}

std::string to_fraction(const Rational& value) {
    if (denominator(value) == 1) return numerator(value).str();
    return numerator(value).str() + "/" + denominator(value).str();
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
        if (count > 1) text += "." + digits.substr(1);
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
    if (value < 0) return "-" + to_decimal(-value, digits);
    const int exponent = floor_log10(value);
    const Rational scaled = value * power_of_ten(digits - 1 - exponent);
    const Integer whole = numerator(scaled) / denominator(scaled);
    std::string text = whole.str();
    while (text.size() > 1 && text.back() == '0') text.pop_back();
    return place_point(text, exponent) + (Rational(whole) == scaled ? "" : "...");
}

}  // namespace mx::exact
