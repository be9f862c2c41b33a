// Shared by the two programs that prove recipes.
#pragma once

#include "reference/fast/real_scale.hpp"
#include "reference/proof/proof.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::proof {

std::vector<Proof> recipe_block_proofs();

}  // namespace mx::proof
