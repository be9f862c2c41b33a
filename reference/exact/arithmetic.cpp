// See arithmetic.hpp.
#include "reference/exact/arithmetic.hpp"

namespace mx::exact {
namespace {

Value nan() {
    return {Value::Kind::nan, false, 0};
}

}  // namespace

Value number(const Rational& value) {
    return {Value::Kind::finite, value < 0, abs(value)};
}

Rational with_sign(const Value& value) {
    return value.negative ? Rational(-value.magnitude) : value.magnitude;
}

bool is_zero(const Value& value) {
    return value.is_finite() && value.magnitude == 0;
}

Value times(const Value& left, const Value& right) {
    if (left.is_nan() || right.is_nan()) return nan();
    const bool negative = left.negative != right.negative;
    if (left.is_finite() && right.is_finite())
        return {Value::Kind::finite, negative, left.magnitude * right.magnitude};
    if (is_zero(left) || is_zero(right)) return nan();
    return {Value::Kind::infinity, negative, 0};
}

Value plus(const Value& left, const Value& right) {
    if (left.is_nan() || right.is_nan()) return nan();
    if (left.is_infinity() && right.is_infinity() && left.negative != right.negative) return nan();
    if (left.is_infinity()) return left;
    if (right.is_infinity()) return right;
    const Rational exact = with_sign(left) + with_sign(right);
    if (exact != 0) return number(exact);
    // IEEE 754-2019 section 6.3.
    return {Value::Kind::finite, left.negative && right.negative, 0};
}

}  // namespace mx::exact
