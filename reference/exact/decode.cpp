// See decode.hpp.
#include "reference/exact/decode.hpp"

namespace mx::exact {

Rational magnitude_of(const ElementFormat& format, std::uint32_t magnitude_code) {
    const int field = static_cast<int>(magnitude_code >> format.mantissa_bits);
    // 2^(field - bias) * (1 + mantissa / 2^M), or 2^(1 - bias) * (mantissa / 2^M), over 2^M.
    const Integer mantissa = magnitude_code & format.code_mantissa_mask();
    const int units_exponent = -format.exponent_bias - format.mantissa_bits;
    if (field == 0 && format.zero_exponent == ZeroExponent::subnormal)
        return times_power_of_two(mantissa, units_exponent + 1);
    const Integer one = std::uint32_t{1} << format.mantissa_bits;
    return times_power_of_two(one + mantissa, units_exponent + field);
}

Value decode(const ElementFormat& format, Code code) {
    const bool negative = format.is_negative(code);
    if (format.is_nan(code))
        return {Value::Kind::nan, negative, 0,
                times_power_of_two(code.bits & format.code_mantissa_mask(), -format.mantissa_bits)};
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
