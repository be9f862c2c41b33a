// Shared by the two programs that prove recipes.
#pragma once

#include <cstdint>

#include "reference/fast/real_scale.hpp"
#include "reference/proof/proof.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::proof {

std::vector<Proof> recipe_block_proofs();

// What a sweep keeps of many codes.
inline std::uint32_t hashed(std::uint32_t left, std::uint32_t right) {
    return left * 0x01000193u ^ right;
}

}  // namespace mx::proof
