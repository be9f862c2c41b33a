// See f32_arithmetic.hpp.
#include "reference/exact/f32_arithmetic.hpp"

namespace mx::exact {

Value f32_of_code(std::uint32_t code) {
    return decode(formats::f32, Code{code});
}
Value largest_of(const ElementFormat& format) {
    return number(magnitude_of(format, format.code_max_finite()));
}

Value rounded_in(const ElementFormat& format, const Value& value) {
    return rounded_value(format, Rounding::nearest_even, value);
}

Value product(const Value& left, const Value& right) {
    return rounded_in(formats::f32, times(left, right));
}

Value quotient(const Value& dividend, const Value& divisor) {
    const Value nan{Value::Kind::nan, false, 0};
    if (dividend.is_nan() || divisor.is_nan()) return nan;
    Value result{Value::Kind::finite, dividend.negative != divisor.negative, 0};
    const Value infinity{Value::Kind::infinity, result.negative, 0};
    if (dividend.is_infinity()) return divisor.is_infinity() ? nan : infinity;
    if (divisor.is_infinity()) return result;
    if (is_zero(divisor)) return is_zero(dividend) ? nan : infinity;
    result.magnitude = dividend.magnitude / divisor.magnitude;
    return rounded_in(formats::f32, result);
}

Value sum(const Value& left, const Value& right) {
    return rounded_in(formats::f32, plus(left, right));
}

Value negated(Value value) {
    value.negative = !value.negative;
    return value;
}

Value at_most(const Value& value, const Value& limit) {
    return is_less(limit, value) ? limit : value;
}
Value at_least(const Value& value, const Value& limit) {
    return is_less(value, limit) ? limit : value;
}

bool is_less(const Value& left, const Value& right) {
    if (left.is_nan() || right.is_nan()) return false;
    if (left.is_infinity()) return left.negative && !(right.is_infinity() && right.negative);
    if (right.is_infinity()) return !right.negative;
    return with_sign(left) < with_sign(right);
}

}  // namespace mx::exact
