// Products for the relations of gemm: factors, scales and addends of a setting, from a seed.
#pragma once

#include <cstdint>

#include "conformance/relation/compare.hpp"

namespace mx::relation {

enum class Factors {
    any,      // every code
    numbers,  // no NaN and no infinity
    exact,    // 0, 1 and -1 under scales 1 and 2: no machine can round their sums
};

struct ProductRequest {
    Factors factors = Factors::any;
    std::int64_t batches = 1;
};

Product make_product(const Setting& setting, const Sample& sample, const ProductRequest& request);

// Numbers of both signs within a few binades of 1, of the type of D.
CodeTensor make_numbers(const Setting& setting, const Cut& shape, Random& random);

// The bits of binary32 for a few whole numbers.
inline constexpr std::uint32_t one_f32 = 0x3F800000, two_f32 = 0x40000000, minus_f32 = 0x80000000;

std::string text_of(const Product& product);

}  // namespace mx::relation
