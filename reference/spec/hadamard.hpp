// The 16-point Hadamard transform that LaneTransform::hadamard16 names: which lane is subtracted.
#pragma once

#include <cstdint>

#include "reference/spec/assert.hpp"

namespace mx {

// The signs of the transform, one bit a lane, set where the sign is negative:
// 1 1 1 -1 1 -1 -1 -1 -1 -1 -1 1 -1 1 -1 -1, lane 0 in the lowest bit.
// NVIDIA/TransformerEngine@d0067d0:transformer_engine/pytorch/tensor/nvfp4_tensor.py
inline constexpr std::uint32_t hadamard_signs = 0b1101'0111'1110'1000;
inline constexpr int hadamard_size = 16;

// Is lane `from` subtracted in output `to`? The matrix is diag(signs) times Sylvester's, whose
// entry is -1 where the two indices share an odd number of one bits.
MX_FOLDED constexpr bool hadamard_subtracts(int from, int to) {
    int shared = from & to;
    shared ^= shared >> 2;
    shared ^= shared >> 1;
    return ((static_cast<std::uint32_t>(shared) ^ (hadamard_signs >> from)) & 1) != 0;
}

}  // namespace mx
