// binary32 arithmetic on exact values: each operation is exact and then rounded once to nearest
// even, as IEEE 754 has it. Used by the recipes, whose libraries compute in binary32, and by
// the GEMM's epilogue.
#pragma once

#include <cstdint>

#include "reference/exact/arithmetic.hpp"
#include "reference/exact/round.hpp"
#include "reference/spec/formats.hpp"

namespace mx::exact {

Value f32_of_code(std::uint32_t code);
Value largest_of(const ElementFormat& format);

// The value, rounded once to nearest even in `format`.
Value rounded_in(const ElementFormat& format, const Value& value);

// fl32 of the exact result. 0 * Inf, 0 / 0, Inf / Inf and Inf - Inf are NaN; x / 0 is Inf.
Value product(const Value& left, const Value& right);
Value quotient(const Value& dividend, const Value& divisor);
Value sum(const Value& left, const Value& right);

Value negated(Value value);

// A NaN goes through both. `limit` is finite.
Value at_most(const Value& value, const Value& limit);
Value at_least(const Value& value, const Value& limit);

bool is_less(const Value& left, const Value& right);  // false where either is NaN

}  // namespace mx::exact
