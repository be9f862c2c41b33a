// Explanations of blocks whose scale has a mantissa: the steps and the other dialects of the format
// are all there.
#include "conformance/emulate/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "conformance/emulate/recipe_fields.hpp"

namespace mx::emulate {
namespace {

void expect_parts(const Explanation& explained, const std::vector<std::string>& parts) {
    EXPECT_EQ(explained.fault, "");
    for (const std::string& part : parts)
        EXPECT_NE(explained.text.find(part), std::string::npos) << part << " in\n"
                                                                << explained.text;
}

Explanation of_values(const TypedValues& typed) {
    const auto target = target_of_values(typed);
    EXPECT_TRUE(target.ok()) << (target ? "" : target.error().message);
    return target ? explain(target.value()) : Explanation{};
}

Explanation of_case(const std::string& text, std::uint64_t block = 0) {
    Sources sources;
    const auto target = target_of_case(parse_case(text).value(), block, sources);
    EXPECT_TRUE(target.ok()) << (target ? "" : target.error().message);
    return target ? explain(target.value()) : Explanation{};
}

TEST(ExplainRealScale, ShowsEveryStep) {
    expect_parts(
        of_values({.values = "6,5,-0", .format = "nvfp4", .dialect = "te-nvfp4", .input = "f32"}),
        {"3 values as one block and the whole tensor",
         "S of the tensor, from its amax 6: 0x43e00000 = 448", "scale, as stored: 0x7e = 448",
         "factor of the lanes: 0x3f800000 = 1", "torchao-nvfp4", "0x7 0x6 0x8"});
}

TEST(ExplainRealScale, TakesTheNumberOfTheTensorFromTheCase) {
    const std::string block =
        "quantize format=nvfp4 dialect=te-nvfp4 shape=1x16 data=bits:40c00000";
    expect_parts(of_case(block + " tensor=0x45280000"),
                 {"from its amax 2688: 0x3f800000 = 1", "scale, as stored: 0x38 = 1"});
    // Of two blocks the amax of the other makes the scale of the tensor.
    expect_parts(
        of_case("quantize format=nvfp4 dialect=te-nvfp4 shape=2x16 data=bits:40c00000,0,0,0,"
                "0,0,0,0,0,0,0,0,0,0,0,0,45280000",
                0),
        {"block 0 of 2", "from its amax 2688: 0x3f800000 = 1"});
}

TEST(ExplainRealScale, ShowsTheWayBack) {
    expect_parts(of_case("dequantize format=nvfp4 dialect=torchao-nvfp4 tensor=0x3f000000 "
                         "shape=1x2 data=bits:40:7,f"),
                 {"scale, as stored: 0x40 = 2", "the number that was kept: 0x3f000000 = 0.5",
                  "0x40c00000", "0xc0c00000"});
}

// Every row of the table, whatever it needs, with both oracles.
TEST(ExplainRealScale, KnowsEveryRow) {
    for (const Quantizer& row : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats) {
            if (!row.quantizes(format)) continue;
            const std::string names =
                " format=" + std::string(format.name) + " dialect=" + std::string(row.name);
            const std::string input = row.reads("bf16") ? " input=bf16" : " input=f32";
            expect_parts(of_case("quantize" + names + input + " shape=2x16 data=edge.special"),
                         {"dialect", "scale, as stored"});
            expect_parts(of_case("dequantize" + names + " shape=2x16 data=codes.random"),
                         {"scale, as stored"});
        }
}

// Beside a row without a number of the tensor the others take the block for the tensor, and a row
// whose scale comes from earlier tensors stays away. A NaN is shown with the bits that it came
// with.
TEST(ExplainRealScale, ComparesRowsThatNeedOtherNumbers) {
    const Explanation alone = of_values(
        {.values = "6,5", .format = "nvfp4", .dialect = "torchao-nvfp4-single", .input = "f32"});
    expect_parts(alone, {"te-nvfp4                  0x7e"});
    const Explanation current = of_values({.values = "2.8",
                                           .format = "fp8-e4m3-tensor",
                                           .dialect = "te-fp8-current",
                                           .input = "f32"});
    EXPECT_EQ(current.text.find("te-fp8-delayed"), std::string::npos) << current.text;
    expect_parts(of_case("quantize format=nvfp4 dialect=te-nvfp4 shape=1x1 data=bits:ffc00001"),
                 {"0xffc00001"});
}

TEST(ExplainRealScale, Refuses) {
    const auto refused = [](const TypedValues& typed) {
        const auto target = target_of_values(typed);
        return target ? "accepted" : target.error().message;
    };
    EXPECT_EQ(
        refused({.values = "1", .format = "nvfp4", .dialect = "te-nvfp4-rht", .input = "bf16"}),
        "dialect 'te-nvfp4-rht' rotates groups of 16 elements, but there are 1 along axis=row");
    EXPECT_EQ(
        refused({.values = "1", .format = "nvfp4", .dialect = "te-nvfp4-rht", .input = "f32"}),
        "dialect 'te-nvfp4-rht' does not read input=f32");
    EXPECT_EQ(refused({.values = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                       .format = "nvfp4",
                       .dialect = "te-nvfp4",
                       .input = "f32"}),
              "a block of nvfp4 has 16 elements, not 17");
    EXPECT_EQ(refused({.values = "1", .format = "nvfp4", .dialect = "ocp", .input = "f32"}),
              "dialect 'ocp' does not quantize nvfp4; these do: te-nvfp4, te-nvfp4-fast, "
              "te-nvfp4-sr, te-nvfp4-rht, te-nvfp4-4over6-mae, te-nvfp4-4over6-mse, "
              "te-nvfp4-4over6-448, torchao-nvfp4, torchao-nvfp4-gpu, torchao-nvfp4-single, "
              "torchao-nvfp4-single-gpu, cublaslt-nvfp4, alto-nvfp4, alto-nvfp4-block, "
              "mlx-nvfp4");
}

TEST(RecipeFields, NameEveryDecisionOfEveryRecipe) {
    for (const Quantizer& recipe : real_scale_quantizers)
        for (const auto& [name, value] : recipe_fields(recipe))
            EXPECT_FALSE(value.empty()) << recipe.name << " " << name;
    EXPECT_EQ(block_format_text(*find_block_format("nvfp4")),
              "e2m1 elements, one e4m3 scale per 1x16");
    EXPECT_EQ(open_text(*find_quantizer("te-nvfp4")), "nothing");
    const std::pair<std::string, std::string> sign{"sign_of_zero", "dropped"};
    EXPECT_EQ(std::ranges::count(recipe_fields(*find_quantizer("mlx-nvfp4")), sign), 1);
}

}  // namespace
}  // namespace mx::emulate
