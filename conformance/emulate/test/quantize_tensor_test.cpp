// Whole tensors: shapes, axes, slices, counts and metadata.
#include "conformance/emulate/quantize_tensor.hpp"

#include <algorithm>
#include <limits>

#include "conformance/emulate/test/tensors.hpp"
#include "reference/spec/layouts.hpp"

namespace mx::emulate::test {
namespace {

TEST(QuantizeTensor, CarriesShapesTypesAndMetadata) {
    const QuantizedTensor result =
        quantized(f32_tensor({2, 40}, std::vector<float>(80, 1.0f)), names_of("mxfp8-e5m2", "nv"));
    ASSERT_EQ(result.file.tensors.size(), 2u);
    EXPECT_EQ(result.file.tensors[0].name, "elements");
    EXPECT_EQ(result.file.tensors[0].type, "e5m2");
    EXPECT_EQ(result.file.tensors[0].shape, (Shape{2, 40}));
    EXPECT_EQ(result.file.tensors[1].name, "scales");
    EXPECT_EQ(result.file.tensors[1].type, "e8m0");
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{2, 2}));
    const std::vector<std::pair<std::string, std::string>> metadata{
        {"format", "mxfp8-e5m2"},
        {"dialect", "nv"},
        {"axis", "row"},
        {"block", "32"},
        {"scales", "linear"},
        {"packing", "bytes"},
        {"input_type", "f32"},
        {"shape", "2,40"},
        {"dialect_hash", rules_hash("nv")},
        {"mxcheck_version", "9.9.9"}};
    EXPECT_EQ(result.file.metadata, metadata);
    EXPECT_EQ(result.counts.elements, 80u);
    EXPECT_EQ(result.counts.blocks, 4u);
}

// Two slices of 33 x 2: columns hold 1, but row 32, alone in its block, holds 2; the second slice
// holds 4. A block that crossed into the next slice would take its scale from there.
TEST(QuantizeTensor, ColumnBlocksStayWithinTheirSlice) {
    std::vector<float> values(132, 1.0f);
    values[64] = values[65] = 2.0f;
    std::fill(values.begin() + 66, values.end(), 4.0f);
    const QuantizedTensor result =
        quantized(f32_tensor({2, 33, 2}, values), names_of("mxfp8-e4m3", "ocp", "col"));
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{2, 2, 2}));
    EXPECT_EQ(bytes_of(result.file.tensors[1]),
              (std::vector<int>{119, 119, 120, 120, 121, 121, 121, 121}));
    EXPECT_EQ(bytes_of(result.file.tensors[0]), std::vector<int>(132, 0x78));
}

TEST(QuantizeTensor, RowBlocksOfAnyRank) {
    EXPECT_EQ(
        bytes_of(
            quantized(f32_tensor({2, 1, 1}, {1.0f, 2.0f}), names_of("mxfp8-e4m3")).file.tensors[1]),
        (std::vector<int>{119, 120}));
    const QuantizedTensor flat =
        quantized(f32_tensor({33}, std::vector<float>(33, 1.0f)), names_of("mxfp8-e4m3"));
    EXPECT_EQ(flat.file.tensors[1].shape, Shape{2});
}

// Tiles of 16 x 16 over 2 slices of 17 x 17: the last row and column have tiles of their own.
TEST(QuantizeTensor, TilesOfAGivenBlock) {
    std::vector<float> values(2 * 17 * 17, 1.0f);
    values[16] = 2.0f;           // first row, last column of slice 0
    values[17 * 17 + 5] = 8.0f;  // slice 1, the large tile
    BlockNames names = names_of("mxfp8-e4m3", "ocp", "tile");
    names.block = "16";
    const QuantizedTensor result = quantized(f32_tensor({2, 17, 17}, values), names);
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{2, 2, 2}));
    EXPECT_EQ(bytes_of(result.file.tensors[1]),
              (std::vector<int>{119, 120, 119, 119, 122, 119, 119, 119}));
}

TEST(QuantizeTensor, EmptyTensorsHaveEmptyParts) {
    for (const Shape& shape :
         {Shape{0}, Shape{3, 0}, Shape{0, 3}, Shape{std::int64_t{1} << 40, 0, 2}, Shape{0, 5, 5}})
        for (const char* axis : {"row", "col", "tile"})
            for (const char* scales : {"linear", "128x4"}) {
                const bool is_none = axis == std::string("tile");
                if (shape.size() == 1 && axis != std::string("row")) continue;
                if (scales != std::string("linear") && is_none) continue;
                BlockNames names = names_of("mxfp4-e2m1", "ocp", axis);
                names.scales = scales;
                const QuantizedTensor result = quantized(f32_tensor(shape, {}), names);
                EXPECT_TRUE(result.file.tensors[0].bytes.empty());
                EXPECT_TRUE(result.file.tensors[1].bytes.empty());
                // Rows of odd length end within a byte, so their elements are stored as bytes.
                Shape stored = shape;
                const bool is_even = shape.back() % 2 == 0;
                if (!is_even) stored.back() = shape.back() / 2 + 1;
                EXPECT_EQ(result.file.tensors[0].type, is_even ? "e2m1" : "u8");
                EXPECT_EQ(result.file.tensors[0].shape, stored);
                for (const data::HostTensor& tensor : result.file.tensors)
                    EXPECT_TRUE(data::check_tensor(tensor).ok()) << axis << scales;
                const auto facts = read_facts(result.file, {});
                ASSERT_TRUE(facts.ok()) << facts.error().message;
                const auto back = dequantize_tensor(result.file, facts.value(), "f32");
                ASSERT_TRUE(back.ok()) << back.error().message;
                EXPECT_EQ(back.value().tensors[0].shape, shape);
            }
}

// As many elements as the type of the values allows, were there any.
TEST(QuantizeTensor, TheLargestEmptyTensorComesBack) {
    for (const auto& [type, length] :
         {std::pair{"f32", std::int64_t{1} << 57}, std::pair{"bf16", std::int64_t{1} << 58}}) {
        const Shape shape{length, 0};
        const data::HostTensor tensor{"x", type, shape, {}};
        ASSERT_TRUE(data::check_tensor(tensor).ok());
        const QuantizedTensor result = quantized(tensor, names_of("mxfp8-e4m3"));
        const auto facts = read_facts(result.file, {});
        ASSERT_TRUE(facts.ok()) << facts.error().message;
        const auto back = dequantize_tensor(result.file, facts.value(), type);
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(back.value().tensors[0].shape, shape);
    }
}

TEST(QuantizeTensor, CountsWhatHappened) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto counts_of = [](const data::HostTensor& tensor, const BlockNames& names) {
        return quantized(tensor, names).counts;
    };
    // 448 stays itself, 480 and 464.5 saturate, 1e-9 is flushed, 0 and -0 were zero before.
    QuantizeCounts counts = counts_of(f32_tensor({7}, {448, 480, -464.5f, 1e-9f, 0.0f, -0.0f, 1}),
                                      names_of("mxfp8-e4m3"));
    EXPECT_EQ(counts.saturated, 2u);
    EXPECT_EQ(counts.flushed, 1u);
    EXPECT_EQ(counts.nan_scales, 0u);
    // 464 is half way to 480 and goes to the even 448: rounded, not saturated.
    counts = counts_of(f32_tensor({2}, {464, 464}), names_of("mxfp8-e4m3"));
    EXPECT_EQ(counts.saturated, 0u);
    counts = counts_of(f32_tensor({2, 2}, {1, nan, inf, 1}), names_of("mxfp8-e4m3"));
    EXPECT_EQ(counts.nan_scales, 2u);
    EXPECT_EQ(counts.saturated, 0u);
    counts = counts_of(f32_tensor({2}, {inf, 1}), names_of("mxfp8-e5m2", "nv"));
    EXPECT_EQ(counts.saturated, 1u);
    EXPECT_EQ(counts.nan_scales, 0u);
    // Formats that have neither NaN nor infinity. 7 is beyond 6, 5 goes to the even 4; 127.5/64
    // rounds to 2, of which only the negative one has a code.
    counts = counts_of(f32_tensor({3}, {7, -5, 4}), names_of("mxfp4-e2m1"));
    EXPECT_EQ(counts.saturated, 1u);
    counts = counts_of(f32_tensor({2}, {127.5f / 64, -127.5f / 64}), names_of("mxint8"));
    EXPECT_EQ(counts.saturated, 1u);
    counts = counts_of(f32_tensor({2}, {127.5f / 64, -127.5f / 64}), names_of("mxint8-symmetric"));
    EXPECT_EQ(counts.saturated, 2u);
}

TEST(QuantizeTensor, RefusesWithASentence) {
    const auto message = [](const data::HostTensor& tensor, const BlockNames& names) {
        return error_of(quantize_tensor(tensor, names, {.program_version = "0"}));
    };
    const data::HostTensor one = f32_tensor({1}, {1});
    for (const char* axis : {"col", "tile"})
        EXPECT_EQ(message(one, names_of("mxfp8-e4m3", "ocp", axis)),
                  "a tensor of shape (1,) has one dimension, and blocks of axis " +
                      std::string(axis) + " need two");
    EXPECT_EQ(message(f32_tensor({}, {1}), names_of("mxfp8-e4m3")),
              "a tensor of shape () has no dimension for blocks to lie along");
    EXPECT_EQ(
        message({"x", "f64", {1}, std::vector<std::byte>(8)}, names_of("mxfp8-e4m3")),
        "holds f64, and quantizers read f32, bf16 and f16; round it to one first, in NumPy by "
        "x.astype('float32')");
}

}  // namespace
}  // namespace mx::emulate::test
