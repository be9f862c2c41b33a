// Numbers become blocks of NVFP4: E2M1 with an E4M3 scale for 16. Used by gemm for its D.
#pragma once

#include "device/cpu/blocks.hpp"

namespace mx::cpu {

inline constexpr std::ptrdiff_t nvfp4_block = 16;

// Numbers are binary32; codes and scales a byte each.
struct Nvfp4Job {
    Extent extent;
    Plane values, codes, scales;
};

// As cuBLASLt's documentation has it, each step one operation of binary32: the scale is the E4M3
// next to amax / 6, and an element the E2M1 next to the number times 1 / scale. Where the scale is
// 0 that is Inf, and 0 times Inf is NaN, for which E2M1 has 6.
void quantize_nvfp4(const Nvfp4Job& job);

}  // namespace mx::cpu
