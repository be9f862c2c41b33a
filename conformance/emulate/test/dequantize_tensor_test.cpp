// The way back: values typed by hand, round trips with the input's shape, and files that contradict
// themselves or the options.
#include <gtest/gtest.h>

#include <bit>

#include "conformance/emulate/quantize_tensor.hpp"

namespace mx::emulate {
namespace {

using Shape = std::vector<std::int64_t>;

data::HostTensor byte_tensor(const std::string& name, const std::string& type, const Shape& shape,
                             const std::vector<int>& bytes) {
    data::HostTensor tensor{name, type, shape, {}};
    for (const int byte : bytes) tensor.bytes.push_back(std::byte(byte));
    return tensor;
}

data::TensorFile small_file() {
    return {{byte_tensor("elements", "e4m3", {2, 3}, {0x38, 0xb8, 0x7e, 0x01, 0x80, 0x7f}),
             byte_tensor("scales", "e8m0", {2, 1}, {127, 129})},
            {{"format", "mxfp8-e4m3"}, {"dialect", "ocp"}, {"axis", "row"}, {"block_size", "32"}}};
}

std::vector<std::uint32_t> codes_of(const data::HostTensor& tensor, std::size_t width) {
    std::vector<std::uint32_t> codes(tensor.bytes.size() / width);
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
        codes[i / width] |= std::to_integer<std::uint32_t>(tensor.bytes[i]) << (8 * (i % width));
    return codes;
}

TEST(DequantizeTensor, GivesTheValues) {
    const BlockNames names{"mxfp8-e4m3", "ocp", "row"};
    const auto f32 = dequantize_tensor(small_file(), names, "f32");
    ASSERT_TRUE(f32.ok()) << f32.error().message;
    const data::HostTensor& values = f32.value().tensors[0];
    EXPECT_EQ(values.name, "values");
    EXPECT_EQ(values.shape, (Shape{2, 3}));
    const auto codes = codes_of(values, 4);
    // 1, -1, 448; 4 * 2^-9, 4 * -0, NaN.
    EXPECT_EQ(codes[0], 0x3f800000u);
    EXPECT_EQ(codes[1], 0xbf800000u);
    EXPECT_EQ(codes[2], 0x43e00000u);
    EXPECT_EQ(codes[3], 0x3c000000u);
    EXPECT_EQ(codes[4], 0x80000000u);
    EXPECT_GT(codes[5] & 0x7fffffffu, 0x7f800000u);
    const auto bf16 = dequantize_tensor(small_file(), names, "bf16");
    ASSERT_TRUE(bf16.ok());
    EXPECT_EQ(codes_of(bf16.value().tensors[0], 2)[2], 0x43e0u);
}

TEST(DequantizeTensor, RoundTripKeepsShapeAndRepresentableValues) {
    for (const char* axis : {"row", "col"}) {
        data::HostTensor tensor{"x", "f32", {3, 35, 2}, {}};
        for (int i = 0; i < 210; ++i) {
            // Powers of two no further apart than e4m3 reaches under any scale of theirs.
            const float value = static_cast<float>(1 << (i % 8)) * (i % 3 == 0 ? -1.0f : 1.0f);
            const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
            for (int shift = 0; shift < 32; shift += 8)
                tensor.bytes.push_back(std::byte((bits >> shift) & 0xff));
        }
        const auto packed = quantize_tensor(tensor, {"mxfp8-e4m3", "nv", axis}, "0");
        ASSERT_TRUE(packed.ok());
        const auto names = names_in(packed.value().file, {});
        ASSERT_TRUE(names.ok());
        const auto back = dequantize_tensor(packed.value().file, names.value(), "f32");
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(back.value().tensors[0].shape, tensor.shape);
        EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes) << axis;
    }
}

TEST(NamesIn, CompletesAndRefusesContradictions) {
    data::TensorFile file = small_file();
    const auto names = names_in(file, {"mxfp8-e4m3", "", ""});
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names.value().axis, "row");
    EXPECT_EQ(names_in(file, {"", "nv", ""}).error().message,
              "the file says dialect 'ocp', but --dialect is 'nv'");
    EXPECT_EQ(names_in(file, {"", "", "col"}).error().message,
              "the file says axis 'row', but --axis is 'col'");
    file.metadata.pop_back();
    file.metadata.pop_back();
    EXPECT_EQ(names_in(file, {}).error().message, "the file does not say its axis; give --axis");
    EXPECT_TRUE(names_in(file, {"", "", "col"}).ok());
    file.metadata = {};
    EXPECT_FALSE(names_in(file, {"", "ocp", "row"}).ok());
    EXPECT_TRUE(names_in(file, {"mxfp8-e4m3", "ocp", "row"}).ok());
    file.metadata = {{"block_size", "16"}};
    EXPECT_FALSE(names_in(file, {"mxfp8-e4m3", "ocp", "row"}).ok());
}

TEST(DequantizeTensor, RefusesWhatDoesNotFit) {
    const BlockNames names{"mxfp8-e4m3", "ocp", "row"};
    const auto message = [](const data::TensorFile& file, const BlockNames& given) {
        const auto result = dequantize_tensor(file, given, "f32");
        EXPECT_FALSE(result.ok());
        return result.ok() ? "" : result.error().message;
    };
    EXPECT_EQ(message(small_file(), {"mxfp8-e5m2", "ocp", "row"}),
              "tensor 'elements' is e4m3, but the format needs e5m2");
    EXPECT_EQ(message(small_file(), {"mxfp8-e4m3", "ocp", "col"}),
              "elements of shape (2, 3) and axis col have scales of shape (1, 3), but the file's "
              "have (2, 1)");
    EXPECT_NE(message(small_file(), {"mxfp8-e4m4", "ocp", "row"}).find("mxfp8"), std::string::npos);
    data::TensorFile file = small_file();
    file.tensors.pop_back();
    EXPECT_EQ(message(file, names), "the file has no tensor 'scales'");
    file = small_file();
    file.tensors[1].type = "u8";
    EXPECT_EQ(message(file, names), "tensor 'scales' is u8, but the format needs e8m0");
    EXPECT_FALSE(dequantize_tensor(small_file(), names, "f64").ok());
}

}  // namespace
}  // namespace mx::emulate
