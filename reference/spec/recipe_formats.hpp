// What recipes quantize to: the table of formats whose scales are not E8M0 bytes of 32 lanes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "reference/spec/recipe.hpp"

namespace mx {

inline constexpr std::array recipe_formats{
    RecipeFormat{"nvfp4", formats::e2m1, formats::e4m3, 1, 16,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4"},
    RecipeFormat{"nvfp4-16x16", formats::e2m1, formats::e4m3, 16, 16,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4"},
    RecipeFormat{"fp8-e4m3-1x128", formats::e4m3, formats::f32, 1, 128,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    RecipeFormat{"fp8-e4m3-128x128", formats::e4m3, formats::f32, 128, 128,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    RecipeFormat{"fp8-e5m2-1x128", formats::e5m2, formats::f32, 1, 128,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    RecipeFormat{"fp8-e5m2-128x128", formats::e5m2, formats::f32, 128, 128,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/transpose"},
    RecipeFormat{"fp8-e4m3-tensor", formats::e4m3, formats::f32, 0, 0,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe"},
    RecipeFormat{"fp8-e5m2-tensor", formats::e5m2, formats::f32, 0, 0,
                 "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe"},
    // Blocks of 16 to 64 with a real-valued scale, as a description of "MXFP8" has them that is not
    // the standard's.
    RecipeFormat{"fp8-e4m3-1x16", formats::e4m3, formats::f32, 1, 16, "nexus, MXFP8 page"},
    RecipeFormat{"fp8-e4m3-1x32", formats::e4m3, formats::f32, 1, 32, "nexus, MXFP8 page"},
    RecipeFormat{"fp8-e4m3-1x64", formats::e4m3, formats::f32, 1, 64, "nexus, MXFP8 page"},
    RecipeFormat{"fp8-e5m2-1x16", formats::e5m2, formats::f32, 1, 16, "nexus, MXFP8 page"},
    RecipeFormat{"fp8-e5m2-1x32", formats::e5m2, formats::f32, 1, 32, "nexus, MXFP8 page"},
    RecipeFormat{"fp8-e5m2-1x64", formats::e5m2, formats::f32, 1, 64, "nexus, MXFP8 page"},
};

// Returns nullptr when no row has that name.
constexpr const RecipeFormat* find_recipe_format(std::string_view name) {
    return find_named(recipe_formats, name);
}

constexpr std::uint32_t recipe_formats_named(std::initializer_list<std::string_view> names) {
    std::uint32_t set = 0;
    for (std::size_t i = 0; i < recipe_formats.size(); ++i)
        for (const std::string_view name : names)
            if (recipe_formats[i].name == name) set |= std::uint32_t{1} << i;
    return set;
}

constexpr bool quantizes(const Recipe& recipe, const RecipeFormat& format) {
    return (recipe.formats & recipe_formats_named({format.name})) != 0;
}

}  // namespace mx
