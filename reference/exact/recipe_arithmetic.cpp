// See recipe_arithmetic.hpp.
#include "reference/exact/recipe_arithmetic.hpp"

namespace mx::exact {
namespace {

Value nan() {
    return {Value::Kind::nan, false, 0};
}
Value infinity(const Value& sign_like) {
    return {Value::Kind::infinity, sign_like.negative, 0};
}

Rational with_sign(const Value& value) {
    return value.negative ? Rational(-value.magnitude) : value.magnitude;
}

}  // namespace

Value number(const Rational& value) {
    return {Value::Kind::finite, value < 0, abs(value)};
}
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
    if (left.is_nan() || right.is_nan()) return nan();
    Value result{Value::Kind::finite, left.negative != right.negative, 0};
    if (left.is_infinity() || right.is_infinity())
        return is_zero(left) || is_zero(right) ? nan() : infinity(result);
    result.magnitude = left.magnitude * right.magnitude;
    return rounded_in(formats::f32, result);
}

Value quotient(const Value& dividend, const Value& divisor) {
    if (dividend.is_nan() || divisor.is_nan()) return nan();
    Value result{Value::Kind::finite, dividend.negative != divisor.negative, 0};
    if (dividend.is_infinity()) return divisor.is_infinity() ? nan() : infinity(result);
    if (divisor.is_infinity()) return result;
    if (is_zero(divisor)) return is_zero(dividend) ? nan() : infinity(result);
    result.magnitude = dividend.magnitude / divisor.magnitude;
    return rounded_in(formats::f32, result);
}

Value sum(const Value& left, const Value& right) {
    if (left.is_nan() || right.is_nan()) return nan();
    if (left.is_infinity() && right.is_infinity() && left.negative != right.negative) return nan();
    if (left.is_infinity()) return left;
    if (right.is_infinity()) return right;
    const Rational exact = with_sign(left) + with_sign(right);
    if (exact != 0) return rounded_in(formats::f32, number(exact));
    // IEEE 754-2019 section 6.3: a zero sum is +0, unless both are -0.
    return {Value::Kind::finite, left.negative && right.negative, 0};
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

bool is_zero(const Value& value) {
    return value.is_finite() && value.magnitude == 0;
}

bool is_less(const Value& left, const Value& right) {
    if (left.is_nan() || right.is_nan()) return false;
    if (left.is_infinity()) return left.negative && !(right.is_infinity() && right.negative);
    if (right.is_infinity()) return !right.negative;
    return with_sign(left) < with_sign(right);
}

}  // namespace mx::exact
