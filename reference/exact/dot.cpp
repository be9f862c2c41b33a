// See dot.hpp.
#include "reference/exact/dot.hpp"

#include "reference/exact/arithmetic.hpp"

namespace mx::exact {
namespace {

Value with_positive_zero(Value value) {
    if (is_zero(value)) value.negative = false;
    return value;
}

}  // namespace

Value scaled_element(const ScaledRow& row, std::int64_t k) {
    const Value element = decode(row.element, row.codes.at(k));
    if (row.block == 0) return element;
    return times(element, decode(row.scale, row.scale_at(k)));
}

Value dot(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
    Value sum = number(0);
    for (std::int64_t k = 0; k < depth; ++k)
        sum = plus(sum, times(scaled_element(a, k), scaled_element(b, k)));
    return with_positive_zero(sum);
}

Value combine(const Affine& affine, const Value& dot, const Value& c) {
    const Value product = times(affine.alpha, dot);
    if (is_zero(affine.beta)) return with_positive_zero(product);
    return with_positive_zero(plus(product, times(affine.beta, c)));
}

}  // namespace mx::exact
