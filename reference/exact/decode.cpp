// See decode.hpp.
#include "reference/exact/decode.hpp"

namespace mx::exact {

Rational magnitude_of(const ElementFormat& format, std::uint32_t magnitude_code) {
    const int field = static_cast<int>(magnitude_code >> format.mantissa_bits);
    const std::uint32_t mantissa = magnitude_code & format.code_mantissa_mask();
    const Rational fraction = Rational(Integer(mantissa)) * power_of_two(-format.mantissa_bits);
    if (field == 0 && format.zero_exponent == ZeroExponent::subnormal)
        return fraction * power_of_two(1 - format.exponent_bias);
    return (1 + fraction) * power_of_two(field - format.exponent_bias);
}

Value decode(const ElementFormat& format, Code code) {
    const bool negative = format.is_negative(code);
    if (format.is_nan(code)) return {Value::Kind::nan, negative, 0};
    if (format.is_infinity(code)) return {Value::Kind::infinity, negative, 0};
    return {Value::Kind::finite, negative, magnitude_of(format, format.magnitude(code))};
}

std::string to_text(const Value& value) {
    const std::string sign = value.negative ? "-" : "";
    if (value.is_nan()) return sign + "nan";
    if (value.is_infinity()) return sign + "inf";
    return sign + to_decimal(value.magnitude);
}

}  // namespace mx::exact
