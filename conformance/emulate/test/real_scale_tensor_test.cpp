// Tensors under scales with a mantissa: packing, shapes of scales, and every refusal.
#include "conformance/emulate/quantize_tensor.hpp"
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
    return completed({.format = format, .dialect = dialect, .axis = axis});
}

QuantizedTensor quantized(data::HostTensor tensor, const BlockNames& with,
                          QuantizeOptions options = {}) {
    options.program_version = "test";
    auto result = quantize_tensor(std::move(tensor), with, options);
    EXPECT_TRUE(static_cast<bool>(result)) << result.error().message;
    return std::move(result).value();
}

std::string refusal(data::HostTensor tensor, const BlockNames& with, QuantizeOptions options = {}) {
    options.program_version = "test";
    const auto result = quantize_tensor(std::move(tensor), with, options);
    return result ? "accepted" : result.error().message;
}

TEST(RealScaleTensor, Nvfp4PacksPairsAndKeepsTheAmax) {
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

TEST(RealScaleTensor, ThereAndBack) {
    for (const auto& [format, dialect] :
         {std::pair{"nvfp4", "te-nvfp4"}, std::pair{"nvfp4-16x16", "te-nvfp4"},
          std::pair{"nvfp4", "torchao-nvfp4-single"}, std::pair{"fp8-e4m3-1x128", "te-fp8-block"},
          std::pair{"fp8-e4m3-128x128", "te-fp8-block-pow2"},
          std::pair{"fp8-e5m2-tensor", "te-fp8-current"}, std::pair{"fp8-e4m3-1x32", "nexus"}}) {
        const data::HostTensor tensor = f32_tensor({2, 3, 32}, repeated(three, 192));
        QuantizedTensor result = quantized(tensor, names(format, dialect));
        const auto back = dequantize_tensor(std::move(result.file),
                                            {names(format, dialect), "f32", tensor.shape}, "f32");
        ASSERT_TRUE(static_cast<bool>(back)) << back.error().message;
        EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes) << format << " " << dialect;
        EXPECT_EQ(back.value().tensors[0].shape, tensor.shape);
    }
}

TEST(RealScaleTensor, ShapesOfScales) {
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

TEST(RealScaleTensor, DelayedScaling) {
    QuantizeOptions options;
    options.history = {Code{one}, Code{0x40E00000}};  // 1 and 7: the scale is 64
    const QuantizedTensor result = quantized(f32_tensor({1, 2}, {one, three}),
                                             names("fp8-e4m3-tensor", "te-fp8-delayed"), options);
    EXPECT_EQ(result.file.tensors[0].bytes,
              (std::vector<std::byte>{std::byte{0x68}, std::byte{0x74}}));
    EXPECT_EQ(result.file.tensors[1].bytes, f32_tensor({1, 1}, {0x3C800000}).bytes);
    EXPECT_EQ(result.file.tensors[2].bytes, f32_tensor({1, 1}, {0x42800000}).bytes);
}

// Half way between two codes the seed decides, and the same seed decides alike.
TEST(RealScaleTensor, StochasticRoundingHangsOnTheSeed) {
    std::vector<std::uint32_t> codes = repeated(0x3FA00000, 256);  // 1.25
    for (std::size_t block = 0; block < 256; block += 16) codes[block] = six;
    const auto elements = [&](std::uint64_t seed) {
        QuantizeOptions options;
        options.seed = seed;
        return quantized(f32_tensor({1, 256}, codes), names("nvfp4", "te-nvfp4-sr"), options)
            .file.tensors[0]
            .bytes;
    };
    EXPECT_EQ(elements(1), elements(1));
    EXPECT_NE(elements(1), elements(2));
}

TEST(RealScaleTensor, EmptyTensors) {
    const QuantizedTensor result = quantized(f32_tensor({0, 16}, {}), names("nvfp4", "te-nvfp4"));
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{0, 1}));
    EXPECT_EQ(result.file.tensors[2].bytes, f32_tensor({1, 1}, {0}).bytes);
    EXPECT_EQ(result.counts.blocks, 0u);
    const QuantizedTensor one_block =
        quantized(f32_tensor({0, 16}, {}), names("fp8-e4m3-tensor", "te-fp8-current"));
    EXPECT_EQ(one_block.file.tensors[1].bytes, f32_tensor({1, 1}, {one}).bytes);
}

// As the formats of OCP MX have them: swizzled scales, either order of nibbles, odd rows.
TEST(RealScaleTensor, LayoutsThereAndBack) {
    for (const char* scales : {"linear", "128x4", "8x4", "te-padded"})
        for (const char* packing : {"low_first", "high_first", "bytes"})
            for (const char* axis : {"row", "col"}) {
                BlockNames with = names("nvfp4", "te-nvfp4", axis);
                with.scales = scales;
                with.packing = packing;
                const data::HostTensor tensor = f32_tensor({2, 5, 33}, repeated(three, 330));
                QuantizedTensor result = quantized(tensor, with);
                const auto facts = read_facts(result.file, with);
                ASSERT_TRUE(facts.ok()) << facts.error().message;
                const auto back = dequantize_tensor(result.file, facts.value(), "f32");
                ASSERT_TRUE(back.ok()) << back.error().message;
                EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes) << scales << packing << axis;
            }
}

TEST(RealScaleTensor, RefusesWithASentence) {
    const data::HostTensor tensor = f32_tensor({1, 16}, repeated(one, 16));
    EXPECT_TRUE(refusal(tensor, names("nvfp4", "ocp"))
                    .starts_with("dialect 'ocp' does not quantize nvfp4; those that do are "
                                 "te-nvfp4, "));
    EXPECT_TRUE(refusal(tensor, names("mxfp8-e4m3", "te-nvfp4"))
                    .starts_with("dialect 'te-nvfp4' does not quantize mxfp8-e4m3; those that do "
                                 "are ocp, "));
    EXPECT_EQ(refusal(tensor, names("nvfp4", "te-nvfp4-fast")),
              "dialect 'te-nvfp4-fast' does not read input=f32");
    EXPECT_EQ(refusal(tensor, names("nvfp4-16x16", "te-nvfp4", "col")),
              "the blocks of nvfp4-16x16 lie along no axis; leave out --axis 'col'");
    EXPECT_EQ(refusal(tensor, names("fp8-e4m3-tensor", "te-fp8-delayed")),
              "dialect te-fp8-delayed takes its scale from earlier tensors: give --amax-history, "
              "the newest first");
    data::HostTensor halves{"x", "bf16", {1, 8}, std::vector<std::byte>(16)};
    EXPECT_EQ(
        refusal(halves, names("nvfp4", "te-nvfp4-rht")),
        "dialect 'te-nvfp4-rht' rotates groups of 16 elements, but there are 8 along axis=row");
}

TEST(RealScaleTensor, RefusesAHistoryThatNoTensorHas) {
    QuantizeOptions options;
    options.history = {Code{one}, Code{0xBF800000}};
    EXPECT_EQ(refusal(f32_tensor({1, 2}, {one, three}), names("fp8-e4m3-tensor", "te-fp8-delayed"),
                      options),
              "--amax-history has a negative number, which no amax is");
}

// Of delayed scaling the scale says what the number of the tensor says.
TEST(RealScaleTensor, RefusesAScaleThatContradictsItsNumber) {
    QuantizeOptions options;
    options.history = {Code{one}, Code{0x40E00000}};
    const BlockNames with = names("fp8-e4m3-tensor", "te-fp8-delayed");
    const data::TensorFile whole = quantized(f32_tensor({1, 2}, {one, three}), with, options).file;
    const auto refused = [&](std::size_t tensor, std::uint32_t code) {
        data::TensorFile file = whole;
        file.tensors[tensor].bytes = f32_tensor({1, 1}, {code}).bytes;
        const auto back = dequantize_tensor(std::move(file), {with, "f32", {1, 2}}, "f32");
        return back ? "accepted" : back.error().message;
    };
    EXPECT_EQ(refused(1, 0x3C800000), "accepted");
    EXPECT_EQ(refused(1, one),
              "its scale is 0x3f800000, but the number in tensor 'tensor_scale', 0x42800000, says "
              "that it is 0x3c800000");
    EXPECT_EQ(refused(2, one),
              "its scale is 0x3c800000, but the number in tensor 'tensor_scale', 0x3f800000, says "
              "that it is 0x3f800000");
}

TEST(RealScaleTensor, RefusesAFileThatDoesNotFit) {
    const auto refused = [](data::TensorFile file) {
        const auto back =
            dequantize_tensor(std::move(file), {names("nvfp4", "te-nvfp4"), "f32", {1, 32}}, "f32");
        return back ? "accepted" : back.error().message;
    };
    const data::TensorFile whole =
        quantized(f32_tensor({1, 32}, repeated(one, 32)), names("nvfp4", "te-nvfp4")).file;
    data::TensorFile file = whole;
    file.tensors.pop_back();
    EXPECT_EQ(refused(file), "has no tensor 'tensor_scale', which its metadata need");
    file = whole;
    file.tensors[2].bytes[3] |= std::byte{0x80};
    EXPECT_EQ(refused(file),
              "the number in tensor 'tensor_scale' is negative, which no amax is, and no scale");
    file = whole;
    file.tensors[1].bytes[1] |= std::byte{0x80};
    EXPECT_EQ(refused(file).find("scale 1 is byte "), 0u);
    file = whole;
    file.tensors[1].type = "f32";
    EXPECT_EQ(refused(file),
              "its metadata need tensor 'scales' to be e4m3 of shape (1, 2), but it is f32 of "
              "shape (1, 2)");
    file = whole;
    file.tensors[1].shape = {2, 1};
    EXPECT_EQ(refused(file),
              "its metadata need tensor 'scales' to be e4m3 of shape (1, 2), but it is e4m3 of "
              "shape (2, 1)");
}

}  // namespace
}  // namespace mx::emulate
