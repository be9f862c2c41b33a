// Whole tensors: shapes, axes, slices, counts and metadata.
#include "conformance/emulate/quantize_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "conformance/emulate/block_layout.hpp"

namespace mx::emulate {
namespace {

using Shape = std::vector<std::int64_t>;

data::HostTensor f32_tensor(const Shape& shape, const std::vector<float>& values) {
    data::HostTensor tensor{"x", "f32", shape, {}};
    for (const float value : values) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        for (int shift = 0; shift < 32; shift += 8)
            tensor.bytes.push_back(std::byte((bits >> shift) & 0xff));
    }
    return tensor;
}

QuantizedTensor quantized(const data::HostTensor& tensor, const BlockNames& names) {
    auto result = quantize_tensor(tensor, names, "9.9.9");
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::move(result).value();
}

std::vector<int> bytes_of(const data::HostTensor& tensor) {
    std::vector<int> bytes;
    for (const std::byte byte : tensor.bytes) bytes.push_back(std::to_integer<int>(byte));
    return bytes;
}

TEST(QuantizeTensor, CarriesShapesTypesAndMetadata) {
    const QuantizedTensor result = quantized(f32_tensor({2, 40}, std::vector<float>(80, 1.0f)),
                                             {"mxfp8-e5m2", "nv", "row"});
    ASSERT_EQ(result.file.tensors.size(), 2u);
    EXPECT_EQ(result.file.tensors[0].name, "elements");
    EXPECT_EQ(result.file.tensors[0].type, "e5m2");
    EXPECT_EQ(result.file.tensors[0].shape, (Shape{2, 40}));
    EXPECT_EQ(result.file.tensors[1].name, "scales");
    EXPECT_EQ(result.file.tensors[1].type, "e8m0");
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{2, 2}));
    const std::vector<std::pair<std::string, std::string>> metadata{
        {"format", "mxfp8-e5m2"}, {"dialect", "nv"},     {"axis", "row"},
        {"block_size", "32"},     {"input_type", "f32"}, {"mxcheck_version", "9.9.9"}};
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
        quantized(f32_tensor({2, 33, 2}, values), {"mxfp8-e4m3", "ocp", "col"});
    EXPECT_EQ(result.file.tensors[1].shape, (Shape{2, 2, 2}));
    EXPECT_EQ(bytes_of(result.file.tensors[1]),
              (std::vector<int>{119, 119, 120, 120, 121, 121, 121, 121}));
    EXPECT_EQ(bytes_of(result.file.tensors[0]), std::vector<int>(132, 0x78));
}

TEST(QuantizeTensor, RowBlocksOfAnyRank) {
    EXPECT_EQ(bytes_of(quantized(f32_tensor({2, 1, 1}, {1.0f, 2.0f}),
                                 {"mxfp8-e4m3", "ocp", "row"}).file.tensors[1]),
              (std::vector<int>{119, 120}));
    const QuantizedTensor flat =
        quantized(f32_tensor({33}, std::vector<float>(33, 1.0f)), {"mxfp8-e4m3", "ocp", "row"});
    EXPECT_EQ(flat.file.tensors[1].shape, Shape{2});
}

TEST(QuantizeTensor, EmptyTensorsHaveEmptyParts) {
    for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 3},
                               Shape{std::int64_t{1} << 56, 0, 2}, Shape{0, 5, 5}})
        for (const char* axis : {"row", "col"}) {
            if (shape.size() == 1 && axis[0] == 'c') continue;
            const QuantizedTensor result =
                quantized(f32_tensor(shape, {}), {"mxfp8-e4m3", "ocp", axis});
            EXPECT_TRUE(result.file.tensors[0].bytes.empty());
            EXPECT_TRUE(result.file.tensors[1].bytes.empty());
            EXPECT_EQ(result.file.tensors[0].shape, shape);
            for (const data::HostTensor& tensor : result.file.tensors)
                EXPECT_TRUE(data::check_tensor(tensor).ok());
        }
}

TEST(QuantizeTensor, CountsWhatHappened) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // 448 stays itself, 480 and 464.5 saturate, 1e-9 is flushed, 0 and -0 were zero before.
    QuantizeCounts counts = quantized(f32_tensor({7}, {448, 480, -464.5f, 1e-9f, 0.0f, -0.0f, 1}),
                                      {"mxfp8-e4m3", "ocp", "row"}).counts;
    EXPECT_EQ(counts.saturated, 2u);
    EXPECT_EQ(counts.flushed, 1u);
    EXPECT_EQ(counts.nan_scales, 0u);
    // 464 is half way to 480 and goes to the even 448: rounded, not saturated.
    counts = quantized(f32_tensor({2}, {464, 464}), {"mxfp8-e4m3", "ocp", "row"}).counts;
    EXPECT_EQ(counts.saturated, 0u);
    counts = quantized(f32_tensor({2, 2}, {1, nan, inf, 1}), {"mxfp8-e4m3", "ocp", "row"}).counts;
    EXPECT_EQ(counts.nan_scales, 2u);
    EXPECT_EQ(counts.saturated, 0u);
    counts = quantized(f32_tensor({2}, {inf, 1}), {"mxfp8-e5m2", "nv", "row"}).counts;
    EXPECT_EQ(counts.saturated, 1u);
    EXPECT_EQ(counts.nan_scales, 0u);
}

TEST(QuantizeTensor, RefusesWithASentence) {
    const auto message = [](const data::HostTensor& tensor, const BlockNames& names) {
        const auto result = quantize_tensor(tensor, names, "0");
        EXPECT_FALSE(result.ok());
        return result.ok() ? "" : result.error().message;
    };
    const data::HostTensor one = f32_tensor({1}, {1});
    EXPECT_EQ(message(one, {"mxfp8-e4m3", "ocp", "col"}),
              "a tensor of shape (1,) has one dimension, and blocks of axis col lie along the last "
              "but one; use axis row");
    EXPECT_EQ(message(f32_tensor({}, {1}), {"mxfp8-e4m3", "ocp", "row"}),
              "a tensor of shape () has no dimension for blocks to lie along");
    EXPECT_EQ(message({"x", "f64", {1}, std::vector<std::byte>(8)}, {"mxfp8-e4m3", "ocp", "row"}),
              "unknown input type 'f64'; did you mean 'f32'?");
    EXPECT_NE(message(one, {"mxfp8-e4m4", "ocp", "row"}).find("mxfp8-e4m3"), std::string::npos);
    EXPECT_NE(message(one, {"mxfp8-e4m3", "opc", "row"}).find("ocp"), std::string::npos);
    EXPECT_NE(message(one, {"mxfp8-e4m3", "ocp", "rows"}).find("row"), std::string::npos);
}

}  // namespace
}  // namespace mx::emulate
