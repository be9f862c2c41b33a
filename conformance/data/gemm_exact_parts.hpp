// What both kinds of exact data are made with: places in factors, their random bits, and codes of
// numbers that a format has. Used by gemm_exact_data and gemm_code_data; knows no tensor.
#pragma once

#include <cstdint>

#include "conformance/case/case.hpp"
#include "conformance/data/gemm_tensors.hpp"

namespace mx {

// A place in a factor or in its scales.
struct FactorPlace {
    GemmPart part;  // a, scales_a, b or scales_b
    std::int64_t row = 0;
    std::int64_t column = 0;
};

// Of A or its scales?
bool is_first(GemmPart part);

// Of the case's data, which its index chooses.
std::uint64_t seed_of(const Case& c);
std::uint64_t bits_of(std::uint64_t seed, const FactorPlace& place);

// significand * 2^exponent, which the format has.
Code code_of(const ElementFormat& format, std::int64_t significand, int exponent);

}  // namespace mx
