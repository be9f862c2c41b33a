// Exact dot products by way of slices (tile_slices.hpp), where the scales of every row are near
// enough to each other. Used by exact_gemm.cpp.
#pragma once

#include "reference/gemm/exact_gemm.hpp"

namespace mx::gemm {

// Few enough slices? Reads every scale.
bool fits_slices(const Factors& factors);

// As for_each_sum, for factors that fit.
void for_each_sum_of_slices(const SliceLoops& loops, const Factors& factors,
                            const Receive& receive);

}  // namespace mx::gemm
