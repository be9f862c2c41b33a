// Shared by the two programs that prove recipes.
#pragma once

#include "reference/fast/recipe.hpp"
#include "reference/proof/proof.hpp"
#include "reference/spec/recipes.hpp"

namespace mx::proof {

std::vector<Proof> recipe_block_proofs();

}  // namespace mx::proof
