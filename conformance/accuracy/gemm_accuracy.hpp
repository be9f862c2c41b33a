// How far the outputs of a GEMM lie from the exact product: in ulp of D's type, and in units of the
// bound that an accumulation model has (reference/gemm/bound.hpp). Factors are named data
// quantized as the case says. Used by mxcheck accuracy --op gemm; asks no device.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/accuracy/distributions.hpp"
#include "conformance/data/inputs.hpp"
#include "reference/spec/formats.hpp"

namespace mx::accuracy {

// The data of a case: its codes, and the values they were made of, row by row.
struct GemmFactors {
    std::vector<CodeTensor> inputs;  // in the order of the device ABI
    std::vector<float> a, b;
};

// As error: a case whose tensors these data cannot fill. `dialect` is that of MX factors.
Expected<GemmFactors> gemm_factors(const Case& c, const Distribution& distribution,
                                   const std::string& dialect);

// Outputs as codes of D's type, in rows.
using Outputs = std::vector<Code>;

// By the fast oracle: of the model that the case names, or exact sums rounded once.
Outputs expected_outputs(const Case& c, const GemmFactors& data);

struct GemmAccuracy {
    std::uint64_t outputs = 0;  // all of them
    std::uint64_t judged = 0;   // those that have a bound, finite or not
    std::uint64_t beyond = 0;   // of these, further away than the bound
    // What follows counts those that are finite.
    std::uint64_t not_finite = 0;  // the exact product or the output
    std::uint64_t without_bound = 0;
    double ulp_sum = 0;  // of |output - exact|, in units of D's gap at the exact product
    double ulp_max = 0;
    double share_sum = 0;  // of |output - exact| / bound, where there is a bound
    double share_max = 0;
    std::map<int, std::uint64_t> shares;  // by floor(log2(share)); exact_share: no error at all
    double signal = 0;                    // sum of the squares of the exact products
    double noise = 0;                     // the same of the errors

    double ulp_mean() const;
    double share_mean() const;
};
inline constexpr int exact_share = -10000;

// The case names the bound: model=bounded or model=bounded:ROW.
GemmAccuracy measure(const Case& c, const GemmFactors& data, const Outputs& outputs);

// What quantizing alone did: the exact product of the codes against that of the values. In dB;
// infinite where nothing was lost.
double quantizing_sqnr(const Case& c, const GemmFactors& data);

}  // namespace mx::accuracy
