// One block by a recipe, step by step, and what the other recipes of the format make of it. Used by
// mxcheck explain; opens no file and prints nothing itself.
#pragma once

#include "conformance/emulate/explain.hpp"
#include "conformance/emulate/recipe_tensor.hpp"

namespace mx::emulate {

// The values are one block and the whole tensor. As error: names that do not go together, or values
// that are none.
Expected<Explanation> explain_recipe(const TypedValues& typed);

}  // namespace mx::emulate
