// What quantizing does to values: noise, relative errors, errors in ulp binade by binade, what is
// clamped and lost, and the scales chosen. The codes are the fast oracle's. Used by mxcheck
// accuracy; draws nothing and opens no file.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "conformance/accuracy/block_codes.hpp"

namespace mx::accuracy {

// In units of the gap between the two elements that the scaled value lies between, or would lie
// between if the format went on: 0.5 at most where it is rounded to nearest and fits.
struct BinadeErrors {
    std::uint64_t elements = 0;
    double sum = 0;
    double largest = 0;
};

struct Accuracy {
    std::uint64_t elements = 0;    // all of them; the rest counts those that are finite
    std::uint64_t not_finite = 0;  // NaN or Inf before
    std::uint64_t lost = 0;        // finite before, NaN or Inf now
    std::uint64_t zeros = 0;       // before
    std::uint64_t saturated = 0;   // beyond the largest element, which they became
    std::uint64_t flushed = 0;     // not zero before, zero now
    std::uint64_t subnormal = 0;   // elements now
    double signal = 0;             // sum of the squares of the values
    double noise = 0;              // the same of the errors
    double relative_sum = 0;       // of |error / value|, over values that are not zero
    double relative_max = 0;
    std::array<std::uint64_t, 256> scales{};  // blocks by their scale byte, if it is one
    std::map<int, BinadeErrors> binades;      // by floor(log2 |value / scale|)

    double sqnr() const;  // in dB; infinite where there is no noise
    double relative_mean() const;
};

// Of codes that anyone has made of these rows by the quantizer's rules, as encode does.
Accuracy measure(const Quantization& quantizer, const Rows& rows, const BlockCodes& codes);

// How many blocks have another scale and how many elements another value. Two NaN are one value.
struct Changes {
    std::uint64_t values = 0;
    std::uint64_t scales = 0;
};
// One side of a comparison: `quantizer` says what its codes mean.
struct Encoded {
    const Quantization& quantizer;
    const BlockCodes& codes;
};
Changes changes(const Encoded& first, const Encoded& second, std::int64_t columns);

}  // namespace mx::accuracy
