// A product and one related to it, before a device. Used by the relations of gemm alone.
#pragma once

#include <cstdint>

#include "conformance/relation/gemm_sample.hpp"
#include "conformance/relation/pair.hpp"
#include "reference/spec/element_format.hpp"

namespace mx::relation {

inline constexpr std::uint32_t odd_alpha = 0x3FA66667;  // about 1.3, of many bits

struct ProductPair {
    Product first, second;
    Places outputs;
};
Expected<Finding> check_pair(Subject& subject, const ProductPair& pair);

// D, every NaN in it the same.
Expected<CodeTensor> multiply(Subject& subject, const Product& product);

// Of the shape of D, without its numbers.
CodeTensor shape_of_d(const Setting& setting, const Product& product);

// With C and an alpha of many bits.
Product whole_product(const Setting& setting, const Sample& sample, std::int64_t batches);

}  // namespace mx::relation
