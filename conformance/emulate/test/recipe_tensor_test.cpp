// Tensors by a recipe: packing, shapes of scales, and every refusal.
#include "conformance/emulate/recipe_tensor.hpp"
#include "reference/spec/delayed_scaling.hpp"

#include <gtest/gtest.h>

namespace mx::emulate {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::uint32_t one = 0x3F800000, six = 0x40C00000, three = 0x40400000;

data::HostTensor f32_tensor(const Shape& shape, const std::vector<std::uint32_t>& codes) {
    data::HostTensor tensor{"x", "f32", shape, {}};
    for (const std::uint32_t code : codes)
        for (int byte = 0; byte < 4; ++byte)
            tensor.bytes.push_back(static_cast<std::byte>(code >> (8 * byte) & 0xFF));
    return tensor;
}

std::vector<std::uint32_t> repeated(std::uint32_t code, std::size_t count) {
    return std::vector<std::uint32_t>(count, code);
}

BlockNames names(const std::string& format, const std::string& dialect,
                 const std::string& axis = "row") {
    return {.format = format, .dialect = dialect, .axis = axis};
}

QuantizedTensor quantized(data::HostTensor tensor, const BlockNames& with,
                          const RecipeOptions& options = {}) {
    auto result = quantize_by_recipe(std::move(tensor), with, options, "test");
    EXPECT_TRUE(static_cast<bool>(result)) << result.error().message;
    return std::move(result).value();
}

std::string refusal(data::HostTensor tensor, const BlockNames& with,
                    const RecipeOptions& options = {}) {
    const auto result = quantize_by_recipe(std::move(tensor), with, options, "test");
    return result ? "accepted" : result.error().message;
}

TEST(RecipeTensor, Nvfp4PacksPairsAndKeepsTheAmax) {
    std::vector<std::uint32_t> codes = repeated(three, 20);
    codes[0] = six;
    const QuantizedTensor result =
        quantized(f32_tensor({1, 20}, codes), names("nvfp4", "te-nvfp4"));
    const auto& tensors = result.file.tensors;
    ASSERT_EQ(tensors.size(), 3u);
    EXPECT_EQ(tensors[0].type, "e2m1");
    ASSERT_EQ(tensors[0].bytes.size(), 10u);
    EXPECT_EQ(tensors[0].bytes[0], std::byte{0x57});  // 6 in the low half, 3 in the high one
    EXPECT_EQ(tensors[0].bytes[9], std::byte{0x77});  // the second block's own amax is 3
    EXPECT_EQ(tensors[1].shape, (Shape{1, 2}));
    EXPECT_EQ(tensors[1].bytes, (std::vector<std::byte>{std::byte{0x7E}, std::byte{0x76}}));
    EXPECT_EQ(tensors[2].name, "tensor_scale");
    EXPECT_EQ(tensors[2].bytes, f32_tensor({1, 1}, {six}).bytes);
    EXPECT_EQ(result.counts.blocks, 2u);
}

TEST(RecipeTensor, ThereAndBack) {
    for (const auto& [format, dialect] :
         {std::pair{"nvfp4", "te-nvfp4"}, std::pair{"nvfp4-16x16", "te-nvfp4"},
          std::pair{"nvfp4", "torchao-nvfp4-single"}, std::pair{"fp8-e4m3-1x128", "te-fp8-block"},
          std::pair{"fp8-e4m3-128x128", "te-fp8-block-pow2"},
          std::pair{"fp8-e5m2-tensor", "te-fp8-current"}, std::pair{"fp8-e4m3-1x32", "nexus"}}) {
        const data::HostTensor tensor = f32_tensor({2, 3, 32}, repeated(three, 192));
        QuantizedTensor result = quantized(tensor, names(format, dialect));
        const auto back =
            dequantize_by_recipe(std::move(result.file), names(format, dialect), "f32");
        ASSERT_TRUE(static_cast<bool>(back)) << back.error().message;
        EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes) << format << " " << dialect;
        EXPECT_EQ(back.value().tensors[0].shape, tensor.shape);
    }
}

TEST(RecipeTensor, ShapesOfScales) {
    const auto shape_of = [](const char* format, const char* dialect, const char* axis) {
        return quantized(f32_tensor({2, 20, 48}, repeated(one, 1920)), names(format, dialect, axis))
            .file.tensors[1]
            .shape;
    };
    EXPECT_EQ(shape_of("nvfp4", "te-nvfp4", "row"), (Shape{2, 20, 3}));
    EXPECT_EQ(shape_of("nvfp4", "te-nvfp4", "col"), (Shape{2, 2, 48}));
    EXPECT_EQ(shape_of("nvfp4-16x16", "te-nvfp4", "row"), (Shape{2, 2, 3}));
    EXPECT_EQ(shape_of("fp8-e4m3-tensor", "te-fp8-current", "row"), (Shape{1, 1}));
}

TEST(RecipeTensor, DelayedScaling) {
    RecipeOptions options;
    options.history = {Code{one}, Code{0x40E00000}};  // 1 and 7: the scale is 64
    const QuantizedTensor result = quantized(f32_tensor({1, 2}, {one, three}),
                                             names("fp8-e4m3-tensor", "te-fp8-delayed"), options);
    EXPECT_EQ(result.file.tensors[0].bytes,
              (std::vector<std::byte>{std::byte{0x68}, std::byte{0x74}}));
    EXPECT_EQ(result.file.tensors[1].bytes, f32_tensor({1, 1}, {0x3C800000}).bytes);
    EXPECT_EQ(result.file.tensors[2].bytes, f32_tensor({1, 1}, {0x42800000}).bytes);
}

// Half way between two codes the seed decides, and the same seed decides alike.
TEST(RecipeTensor, StochasticRoundingHangsOnTheSeed) {
    std::vector<std::uint32_t> codes = repeated(0x3FA00000, 256);  // 1.25
    for (std::size_t block = 0; block < 256; block += 16) codes[block] = six;
    const auto elements = [&](std::uint64_t seed) {
        RecipeOptions options;
        options.seed = seed;
        return quantized(f32_tensor({1, 256}, codes), names("nvfp4", "te-nvfp4-sr"), options)
            .file.tensors[0]
            .bytes;
    };
    EXPECT_EQ(elements(1), elements(1));
    EXPECT_NE(elements(1), elements(2));
}

TEST(RecipeTensor, EmptyTensors) {
    const QuantizedTensor result = quantized(f32_tensor({0, 16}, {}), names("nvfp4", "te-nvfp4"));
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{0, 1}));
    EXPECT_EQ(result.counts.blocks, 0u);
}

TEST(RecipeTensor, RefusesWithASentence) {
    const data::HostTensor tensor = f32_tensor({1, 16}, repeated(one, 16));
    EXPECT_EQ(refusal(tensor, names("nvfp4", "ocp"))
                  .find("format nvfp4 is quantized by the "
                        "dialects te-nvfp4,"),
              0u);
    EXPECT_EQ(refusal(tensor, names("mxfp8-e4m3", "te-nvfp4")),
              "dialect te-nvfp4 quantizes to nvfp4, nvfp4-16x16, not to 'mxfp8-e4m3'");
    EXPECT_EQ(refusal(tensor, names("nvfp4", "te-nvfp4-fast")),
              "dialect te-nvfp4-fast does not read tensors of type 'f32'");
    EXPECT_EQ(refusal(tensor, names("nvfp4-16x16", "te-nvfp4", "col")),
              "the blocks of nvfp4-16x16 are the same along both axes; leave out --axis col");
    EXPECT_EQ(refusal(tensor, names("fp8-e4m3-tensor", "te-fp8-delayed")),
              "dialect te-fp8-delayed takes its scale from earlier tensors: give --amax-history, "
              "the newest first");
    EXPECT_EQ(refusal(f32_tensor({3}, repeated(one, 3)), names("nvfp4", "te-nvfp4")),
              "a tensor of shape (3,) has an odd number of elements, but two of four bits share a "
              "byte");
    data::HostTensor halves{"x", "bf16", {1, 8}, std::vector<std::byte>(16)};
    EXPECT_EQ(refusal(halves, names("nvfp4", "te-nvfp4-rht")),
              "dialect te-nvfp4-rht rotates groups of 16 lanes, but there are 8 along axis row");
}

TEST(RecipeTensor, RefusesAFileThatDoesNotFit) {
    const auto refused = [](data::TensorFile file) {
        const auto back = dequantize_by_recipe(std::move(file), names("nvfp4", "te-nvfp4"), "f32");
        return back ? "accepted" : back.error().message;
    };
    const data::TensorFile whole =
        quantized(f32_tensor({1, 32}, repeated(one, 32)), names("nvfp4", "te-nvfp4")).file;
    data::TensorFile file = whole;
    file.tensors.pop_back();
    EXPECT_EQ(refused(file), "the file has no tensor 'tensor_scale'");
    file = whole;
    file.tensors[1].type = "f32";
    EXPECT_EQ(refused(file), "tensor 'scales' is f32, but the format needs e4m3");
    file = whole;
    file.tensors[1].shape = {2, 1};
    EXPECT_EQ(refused(file),
              "elements of shape (1, 32) have scales of shape (1, 2), but the file's have (2, 1)");
}

}  // namespace
}  // namespace mx::emulate
