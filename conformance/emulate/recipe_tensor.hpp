// Whole tensors by a recipe, through the fast oracle: NVFP4, blocks with binary32 scales, one scale
// for a tensor. Used by mxcheck quantize and dequantize; opens no file.
#pragma once

#include <cstdint>

#include "conformance/emulate/quantize_tensor.hpp"
#include "conformance/emulate/recipe_codes.hpp"
#include "conformance/emulate/recipe_grid.hpp"
#include "reference/spec/delayed_scaling.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::emulate {

// Has the format or the dialect scales with a mantissa?
bool names_recipe(const BlockNames& names);

// As error: a recipe that does not quantize to the format, or a name without the other.
Status check_recipe(const BlockNames& names);

struct RecipeOptions {
    std::uint64_t seed = 0;     // of the bits for stochastic rounding
    DelayedScaling delayed;     // for a recipe with a history
    std::vector<Code> history;  // binary32, the newest amax first
    Code previous_scale{0x3F800000};
};

// Tensors "elements", "scales" and, where the recipe has one, "tensor_scale": for
// TransformerEngine's NVFP4 the amax, as it keeps it, else S. Elements of 4 bits are packed, the
// even one in the low half of a byte.
Expected<QuantizedTensor> quantize_by_recipe(data::HostTensor tensor, const BlockNames& names,
                                             const RecipeOptions& options,
                                             const std::string& program_version);

// The codes of such a file, one each, and where its blocks lie. `kept` is the number of
// "tensor_scale", 1 where the recipe has none. As error: tensors that are missing or do not fit.
struct RecipeCodes {
    RecipeGrid grid;
    ShapedCodes elements;
    ShapedCodes scales;
    Code kept{0x3F800000};
};
Expected<RecipeCodes> recipe_codes(const data::TensorFile& file, const BlockNames& names);

// The values of a file that quantize_by_recipe made. Lanes that a recipe has rotated stay so.
Expected<data::TensorFile> dequantize_by_recipe(data::TensorFile file, const BlockNames& names,
                                                const std::string& type);

}  // namespace mx::emulate
