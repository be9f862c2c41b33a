// The terms of a sum as the conditions of exactness.hpp see them. Used by exactness.cpp,
// exactness_of_all.cpp and row_pairs.cpp alone.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/fast/dot_model.hpp"
#include "reference/gemm/problem.hpp"

namespace mx::gemm {

inline constexpr ElementFormat f32 = formats::f32;

// As many terms below 2 to this do not reach the end of the range, C and the bias among them.
inline int highest_term(std::int64_t depth) {
    const auto terms = static_cast<std::uint64_t>(depth) + 2;
    return f32.exponent_max() + 1 - static_cast<int>(std::bit_width(terms));
}

inline bool has_digits(const fast::Unpacked& value) {
    return value.kind == fast::Kind::finite && value.significand != 0;
}

// Of a value that has digits.
inline int lowest_bit(const fast::Unpacked& value) {
    return value.exponent + std::countr_zero(value.significand);
}
inline int above_highest_bit(const fast::Unpacked& value) {
    return value.exponent + static_cast<int>(std::bit_width(value.significand));
}

// A number with the exponent that a machine aligns it by.
struct Term {
    fast::Unpacked value;
    int exponent = 0;
};

// Without the zeros that end its digits: the product of alpha, two scales and two elements fits.
inline Term term_of(const ElementFormat& format, Code code) {
    fast::Unpacked value = fast::unpack(format, code);
    const int exponent = fast::exponent_of(format, value);
    if (value.significand == 0) return {value, exponent};
    const int zeros = std::countr_zero(value.significand);
    value.significand >>= zeros;
    value.exponent += zeros;
    return {value, exponent};
}

inline Term times(const Term& left, const Term& right) {
    return {fast::exact_product(left.value, right.value), left.exponent + right.exponent};
}

// A factor of binary32 that is multiplied by somewhere: harmless where it only moves the exponent.
inline bool only_moves(Code code) {
    const fast::Unpacked value = fast::unpack(f32, code);
    return !has_digits(value) || (std::has_single_bit(value.significand) &&
                                  f32.magnitude(code) > f32.code_mantissa_mask());
}

inline bool is_beyond(const ProblemView& problem, Code result) {
    const ElementFormat& d = problem.epilogue.output;
    return d.is_infinity(result) ||
           (problem.epilogue.is_narrow() && d.magnitude(result) == d.code_max_finite());
}

}  // namespace mx::gemm
