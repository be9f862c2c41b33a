// The dot products of a GEMM, exact: OCP MX v1.0 sections 6.1 and 6.2 with no freedom taken. The
// standard leaves the internal precision and the order of the sum to the implementation; this is
// what all of them approximate.
#pragma once

#include <cstdint>

#include "reference/exact/round.hpp"
#include "reference/spec/gemm.hpp"

namespace mx::exact {

// Element k with its scale. NaN if either is.
Value scaled_element(const ScaledRow& row, std::int64_t k);

// The sum over k < depth of a_k * b_k, scales included. NaN where an element or the scale of its
// block is, for 0 * Inf and for Inf - Inf. A sum that is zero, or of nothing, is +0.
Value dot(const ScaledRow& a, const ScaledRow& b, std::int64_t depth);

struct Affine {
    Value alpha;
    Value beta;
};

// alpha * dot + beta * c. Where beta is 0, c is not read: as in BLAS, it may be anything. A zero is
// +0.
Value combine(const Affine& affine, const Value& dot, const Value& c);

}  // namespace mx::exact
