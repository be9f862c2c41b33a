// One output of a GEMM from its largest blocks alone: those that all others together cannot reach.
// Used by settled_gemm.cpp; proved by reference/proof/prove_gemm_settled.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "reference/gemm/block_tops.hpp"

namespace mx::gemm {

struct TopsPair {
    const BlockTops& a;
    const BlockTops& b;
};

// Are there such blocks, of one length, and not too many?
bool has_leading_blocks(const Factors& factors);

// The rows of both factors have E8M0 scales and blocks of one length, and nothing in the outputs
// that are asked for is NaN or infinite.
class LeadingBlocks {
public:
    LeadingBlocks(const Factors& factors, const TopsPair& tops);

    // As settled_value.
    std::optional<fast::Unpacked> value(const Place& place) const;

private:
    // Exponents: products below 2^floor are left out, none is as large as 2^top.
    struct Reach {
        int floor;
        int top;
    };
    std::optional<fast::Unpacked> value_above(const Place& place, const Reach& reach) const;
    void add_block(WindowSum& sum, const Place& place, std::int64_t block) const;

    const Factors& factors_;
    TopsPair tops_;
    int digits_;                           // of a product
    int low_;                              // of the quanta of both formats together
    int count_bits_;                       // as many as there are products
    std::array<std::int64_t, 256> a_, b_;  // quanta
};

}  // namespace mx::gemm
