// Is an output the same whatever the order, the split and the accumulator? Decided from the inputs
// alone, by conditions that leave no rounding anywhere to differ in.
//
// Let every nonzero term (a product with its scales and alpha, beta * C, the bias) be a multiple of
// 2^q, E the largest exponent that a machine could align to, zeros and subnormals counted by their
// exponent fields, T the sum of the magnitudes of the terms, and F the fraction bits that the
// weakest accumulator keeps. Where E <= q + F and T < 2^(q + F + 1), no aligned term loses a bit
// and every partial sum of any subset has a code: the sum is exact in any order.
#pragma once

#include <string>

#include "conformance/run/gemm_oracle.hpp"

namespace mx {

// "" where the output's bits are determined; else a sentence: what leaves them open.
std::string undetermined_because(const GemmRules& rules, const GemmOutput& output);

// "" where whatever is multiplied by one scale before another, or by alpha, keeps to the normal
// range of binary32; else a sentence. Beyond it a factor that comes later cannot bring back what
// was lost.
std::string partly_scaled_because(const GemmOutput& output);

}  // namespace mx
