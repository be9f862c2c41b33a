// Is an output the same whatever the order, the split and the accumulator? Decided from the inputs
// alone, by conditions that leave no rounding anywhere to differ in.
//
// Let every nonzero term (a product with its scales and alpha, beta * C, the bias) be a multiple of
// 2^q, E the largest exponent that a machine could align to, zeros and subnormals counted by their
// exponent fields, T the sum of the magnitudes of the terms, and F the fraction bits that the
// weakest accumulator keeps. Where E <= q + F and T < 2^(q + F + 1), no aligned term loses a bit
// and every partial sum of any subset has a code: the sum is exact in any order.
//
// These are conditions on sums, where the standard leaves a machine free. A scale is not: E8M0 code
// 0 is 2^-127 (OCP MX v1.0 section 5.4.1), so a machine that flushes it, as binary32 has it among
// its subnormals, is wrong, not undetermined. What a scale and an element make together must be a
// normal number, as machines may dequantise.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/gemm/problem.hpp"

namespace mx::gemm {

// "" where the output's bits are determined; else a sentence: what leaves them open.
std::string undetermined_because(const ProblemView& problem, const Output& output);

// Which outputs of D are not determined, in its order, with the exact results, rounded once.
// The same as asking for each of them, and quick: most are decided from what each pair of rows
// shows at once (reference/gemm/row_pairs.hpp), and the others are asked.
std::vector<bool> undetermined_outputs(const ProblemView& problem, std::span<const Code> results);

// May the machine multiply elements of A by alpha before it multiplies them by B's, as a row with
// AlphaPlace::factor_a does?
bool alpha_may_scale_a(const ProblemView& problem);

// "" where such products keep to the normal range of binary32; else a sentence.
std::string alpha_on_a_because(const ProblemView& problem, const Output& output);

// "" where whatever is multiplied by one scale before another, or by alpha, keeps to the normal
// range of binary32; else a sentence. Beyond it a factor that comes later cannot bring back what
// was lost.
std::string partly_scaled_because(const Output& output);

}  // namespace mx::gemm
