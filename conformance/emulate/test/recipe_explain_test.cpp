// Explanations of recipes: the steps and the other dialects of the format are all there.
#include "conformance/emulate/recipe_explain.hpp"

#include <gtest/gtest.h>

#include "conformance/emulate/recipe_fields.hpp"

namespace mx::emulate {
namespace {

TEST(RecipeExplain, ShowsEveryStep) {
    const auto explained = explain_recipe(
        {.values = "6,5,-0", .format = "nvfp4", .dialect = "te-nvfp4", .input = "f32"});
    ASSERT_TRUE(static_cast<bool>(explained)) << explained.error().message;
    EXPECT_EQ(explained.value().fault, "");
    for (const char* part :
         {"S of the tensor, from its amax 6: 0x43e00000 = 448", "scale, as stored: 0x7e = 448",
          "factor of the lanes: 0x3f800000 = 1", "torchao-nvfp4", "0x7 0x6 0x8"})
        EXPECT_NE(explained.value().text.find(part), std::string::npos) << part << " in\n"
                                                                        << explained.value().text;
}

TEST(RecipeExplain, Refuses) {
    const auto refused = [](const TypedValues& typed) {
        const auto explained = explain_recipe(typed);
        return explained ? "accepted" : explained.error().message;
    };
    EXPECT_EQ(
        refused({.values = "1", .format = "nvfp4", .dialect = "te-nvfp4-rht", .input = "bf16"}),
        "dialect te-nvfp4-rht rotates groups of 16 lanes, not 1");
    EXPECT_EQ(
        refused({.values = "1", .format = "nvfp4", .dialect = "te-nvfp4-rht", .input = "f32"}),
        "dialect te-nvfp4-rht does not read 'f32'");
    EXPECT_EQ(refused({.values = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                       .format = "nvfp4",
                       .dialect = "te-nvfp4",
                       .input = "f32"}),
              "a block of nvfp4 has 16 lanes, not 17");
}

TEST(RecipeFields, NameEveryDecisionOfEveryRecipe) {
    for (const Quantizer& recipe : real_scale_quantizers)
        for (const auto& [name, value] : recipe_fields(recipe))
            EXPECT_FALSE(value.empty()) << recipe.name << " " << name;
    EXPECT_EQ(block_format_text(*find_block_format("nvfp4")),
              "e2m1 elements, one e4m3 scale per 1x16");
    EXPECT_EQ(open_text(*find_quantizer("te-nvfp4")), "nothing");
}

}  // namespace
}  // namespace mx::emulate
