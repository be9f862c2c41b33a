// What decides whether a dot product can round anywhere, for many pairs of rows at once: every code
// is decoded once for all pairs, and each pair is a few loops over integers that lie side by side.
// Held to fast::dot and to the same loops in plain words by reference/test/row_pairs_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/gemm/exact_gemm.hpp"

namespace mx::gemm {

// From the least to the largest of some exponents; where there are none, least > largest.
struct ExponentRange {
    static constexpr int none = 8000;
    int least = none;
    int largest = -none;

    bool is_within(int first, int last) const { return least >= first && largest <= last; }
};

struct RowFacts {
    bool nan = false;              // among the elements with their scales
    bool infinity = false;         // the same, or an Inf among the scales
    bool scales_only_move = true;  // each of binary32 is 0, not finite or a normal power of two
    ExponentRange f32_scales;      // read from their fields; 0 to 0 where there are none
    ExponentRange scaled;          // from the lowest bit to above the highest one
};

// Products are those of elements with their scales. Where one factor is not finite there is none.
struct PairFacts {
    const RowFacts& a;
    const RowFacts& b;
    bool any = false;  // one that is not 0
    int quantum = 0;   // where any is: the lowest bit that one of them has
    int largest = 0;   // the largest exponent that one is aligned to, zeros counted
    // Of an element with the scale of one side alone, and of the scales of both sides where these
    // are E8M0: no wider than this. The first two count what is not 0, the last whatever is below
    // unless a block holds zeros alone.
    ExponentRange with_a = {}, with_b = {}, scales = {};
    // The sum of the magnitudes: this one if it is below 2^(quantum + 53), else that or more.
    double magnitudes = 0;
};

// Every pair, each once, in no promised order. The rows of one factor have one element format, one
// scale format and one block length; `depth` is not 0.
using TakePair = std::function<void(const Place&, const PairFacts&)>;
void for_each_pair(const Factors& factors, const TakePair& take);

// The sums themselves, with infinities and NaN, of any rows: by a kernel where one takes them, else
// by binary64 where nothing can round in it, else term by term.
using TakeTotal = std::function<void(const Place&, const fast::Total&)>;
void for_each_total(const Factors& factors, const TakeTotal& take);

}  // namespace mx::gemm
