// How far an output may lie from the exact result: derived per output from what a machine does,
// never chosen. Used by the judge of GEMMs for model=bounded and model=bounded:ROW.
//
// Let T be the sum of the magnitudes of the products, E the largest exponent of a nonzero one,
// counted from the fields of its factors, and G = max(T, 2^E). A step of L products that keeps F
// fraction bits below E and rounds to P bits loses less than 2^(E-F) of each product and of the
// accumulator and 2^-P of its sum. K products in n = ceil(K/L) steps lose less than
//     (e^((K+n)*2^-F + n*2^-P) - 1) * G,
// for what one step loses of all that is held, the next may lose of that loss, too. Each promotion
// group does so for itself, and the outer accumulator, which keeps P' bits, loses less than
// 3 * 2^-P' of what it holds at each addition: two products with scales and the sum are rounded to
// nearest. Sums beside each other are added in the end, a rounding of binary32 each. Where alpha
// may multiply A's elements first, their products with it must be normal numbers. There is none
// where a product with one scale of two leaves the normal range, nor where T exceeds what an
// accumulator holds: 65504 in binary16.
//
// Where no row is named, the bound is the largest of those of all rows that multiply such factors,
// with scales of blocks where these have them, each in any order and in any number of parts up to
// the eight that are added in binary32. In any order the products of a group are unknown, so that
// S, the sum of max(|product|, 2^E of it), takes the place of G: a group's G is no more than its
// share of S. Where no row multiplies such factors, it is that of binary32 alone.
#pragma once

#include <string>

#include "reference/gemm/oracle.hpp"

namespace mx::gemm {

struct Bound {
    // What there is no bound of, "" where there is one.
    std::string none_because;
    bool is_nan = false;       // the output must be NaN
    bool is_infinite = false;  // the output must be this code
    Code infinity;
    fast::Total result;  // exact, before it is rounded to D's type
    double bound = 0;    // of the distance to it, rounding to D's type included
    // The row whose bound it is; none where there is none, or only that of binary32.
    const GemmModel* row = nullptr;
};
Bound bound_of(const ProblemView& problem, const Output& output);

// How far a finite code lies from the exact result.
double distance_of(const ProblemView& problem, const fast::Total& result, Code actual);

// The distance of a code from the exact result, as a share of the bound; infinite for a NaN where a
// number belongs and the other way round.
double share_of_bound(const ProblemView& problem, const Bound& bound, Code actual);

}  // namespace mx::gemm
