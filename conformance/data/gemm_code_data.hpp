// Exact data that walks lists: every code of an element, every code of a scale, every kind of
// number that is not finite. Sums are exact in any order. Used by gemm_inputs; knows no tensor.
#pragma once

#include <cstdint>

#include "conformance/data/gemm_exact_parts.hpp"

namespace mx {

enum class GemmCodeData {
    elements,   // an output is one element times 1; the elements are all finite codes by turns
    scales,     // an output is one product under a scale; the scales are all codes by turns
    nonfinite,  // a NaN, an Inf, two of unlike signs or a NaN scale a row, beside rows of ones
};

class GemmCodePlan {
public:
    // `fraction_bits` are those that every accumulator keeps. An odd index of the case lets B do
    // what A does.
    GemmCodePlan(GemmCodeData kind, const Case& c, int fraction_bits);

    Code element(const FactorPlace& place) const;
    Code scale(const FactorPlace& place) const;
    // C and the bias: odd numbers of as many bits as stay exact; of `nonfinite` also NaN and Inf.
    Code addend(const ElementFormat& format, const FactorPlace& place) const;
    Code scale_out() const;

private:
    struct Side {
        ElementFormat format;
        FactorScalingRow scales;
        std::int64_t batch = 0;  // rows of a batch
        bool is_hot = false;     // its rows have one element each
    };
    // What a row of `nonfinite` holds.
    enum class Role {
        ones,
        nan,
        infinity,
        infinities,
        nan_scale,
        nan_scale_of_zeros,
        zeros,
        signs,
    };
    static constexpr std::int64_t roles = 8;

    std::uint64_t bits(const FactorPlace& place) const;
    const Side& side_of(GemmPart part) const;
    std::int64_t hot(const Side& side, std::int64_t row) const;
    static Role role_of(const Side& side, std::int64_t row);
    static bool has_nan_scale(const Side& side, Role role);
    int factor_exponent(const Side& side) const;
    Code walked_element(const Side& side, const FactorPlace& place) const;
    Code nonfinite_element(const Side& side, const FactorPlace& place) const;
    int highest_scale() const;
    Code walked_scale(const Side& side, const FactorPlace& place) const;

    GemmCodeData kind_;
    std::uint64_t seed_, index_;
    std::int64_t depth_;
    int fraction_bits_;
    bool is_high_ = true;  // of `scales`: those of E8M0 up to the largest, or down to the smallest
    Side a_, b_;
};

}  // namespace mx
