// Data whose sums are exact in any order: how many products an output may have, how large they are,
// and which elements make them. Used by gemm_inputs; knows no tensor.
#pragma once

#include <cstdint>

#include "conformance/data/gemm_exact_parts.hpp"

namespace mx {

enum class GemmExactData {
    mantissas,   // every mantissa bit of elements of one binade
    signs,       // 0, 1 and 2 with signs, dense
    cancelling,  // each product and nearly the same with the other sign
    scales,      // a row has elements in one block alone, under scales of the whole range
    lowest,      // the same, many under E8M0 code 0; such sums are exact without C and bias
    specials,    // as signs, but for some NaN, Inf and NaN scales
    one_hot,     // a row of A has one element
    counting,    // all elements of a row alike
};

class GemmExactPlan {
public:
    // `fraction_bits` are those that every accumulator keeps. The index of the case makes other
    // data of the kind.
    GemmExactPlan(GemmExactData kind, const Case& c, int fraction_bits);

    Code element(const FactorPlace& place) const;
    Code scale(const FactorPlace& place) const;
    // C and the bias: whole numbers of up to 3.
    Code addend(const ElementFormat& format, const FactorPlace& place) const;
    Code scale_out() const;

private:
    struct Side {
        ElementFormat format;
        FactorScalingRow scales;
        std::int64_t batch = 0;    // rows of a batch
        int mantissa_bits = 0;     // of them in use
        bool is_sparse = false;    // the side whose zeros decide which products there are
        bool has_partner = false;  // the other side has scales for the same blocks
        bool has_lowest = false;   // half of its scales are E8M0 code 0
    };

    std::uint64_t bits(const FactorPlace& place) const;
    const Side& side_of(GemmPart part) const;
    void share_mantissas(int bits);
    bool is_chosen(const Side& side, const FactorPlace& place) const;
    std::int64_t own_block(const Side& side, std::int64_t row) const;
    std::int64_t hot(const Side& side, std::int64_t row) const;
    static int turn_of(const Side& side, std::int64_t row);
    Code value(const Side& side, const FactorPlace& place) const;
    void choose_lowest();
    bool is_alone() const;
    bool is_lowest(const Side& side, const FactorPlace& block) const;
    int block_exponent(const Side& side, std::int64_t block) const;
    int scale_exponent(const Side& side, const FactorPlace& place) const;
    bool is_special_row(const FactorPlace& place) const;

    GemmExactData kind_;
    std::uint64_t seed_;
    std::uint64_t index_;
    std::int64_t depth_;
    std::int64_t products_ = 1;  // that an output may have and still be exact
    bool has_addend_ = false;    // C or a bias
    Side a_, b_;
};

}  // namespace mx
