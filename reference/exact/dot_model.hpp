// What a modelled machine makes of a dot product, with fractions: each product by its exponent,
// cut, summed and rounded as the row of the model says, step after step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/exact/round.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx::exact {

// A summand of one step: its value and the exponent that it is aligned by.
struct Summand {
    Value value;
    int exponent = 0;
};

// One step: accumulator + summands, cut, summed and rounded. NaN and Inf are looked for first, in
// all summands. A sum of zero is +0; only of a fused multiply-add and of a tree has it the sign of
// IEEE 754.
Value step(const GemmModel& model, std::span<const Summand> summands, const Value& accumulator);

// The accumulator after `depth` products, which began as `c`: a value of binary32, or of the
// model's own format if that is narrower in exponent. Rows of a model that has no scales have none.
Value accumulate(const GemmModel& model, const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                 const Value& c);

// Split along k: parts of `part` products, the last may be shorter, each accumulated from 0, and
// then added one after the other in binary32, rounded to nearest even.
Value accumulate_in_parts(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, std::int64_t part);

// The elements of a row without scales times alpha, each rounded to binary32: what a model
// multiplies whose alpha stands there (AlphaPlace::factor_a).
class TimesAlpha {
public:
    TimesAlpha(const ScaledRow& row, std::int64_t depth, const Value& alpha);
    // Points into this one.
    ScaledRow row() const;

private:
    std::vector<std::uint32_t> codes_;
};

}  // namespace mx::exact
