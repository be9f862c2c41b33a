// Outputs whose rounding a doubt leaves open: asked one by one, and what is still open of them in
// full. Used by settled_gemm.cpp and rounded_gemm.cpp; proved by
// reference/proof/prove_gemm_settled.cpp.
#pragma once

#include <vector>

#include "reference/gemm/leading_blocks.hpp"

namespace mx::gemm {

// Leaves those that are open still. Where there are many to ask, or many that stay open, the kernel
// that takes any scales is the quicker.
void settle_by_blocks(const Factors& factors, const TopsPair& tops, std::vector<Place>& open,
                      const ReceiveValue& receive);

// A few by the wide sum; many by `kernel`, with all of their rows.
void settle_in_full(const Factors& factors, const Kernel& kernel, const std::vector<Place>& open,
                    const ReceiveValue& receive);

// Both, with tops of the rows that are asked for alone; the first where rows have them.
void settle_open(const Factors& factors, const Kernel& kernel, std::vector<Place> open,
                 const ReceiveValue& receive);

}  // namespace mx::gemm
