// The way back: values typed by hand, and tensors that do not fit what the file says of them.
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/emulate/test/tensors.hpp"

namespace mx::emulate::test {
namespace {

data::HostTensor byte_tensor(const std::string& name, const std::string& type, const Shape& shape,
                             const std::vector<int>& bytes) {
    data::HostTensor tensor{name, type, shape, {}};
    for (const int byte : bytes) tensor.bytes.push_back(std::byte(byte));
    return tensor;
}

data::TensorFile small_file() {
    return {{byte_tensor("elements", "e4m3", {2, 3}, {0x38, 0xb8, 0x7e, 0x01, 0x80, 0x7f}),
             byte_tensor("scales", "e8m0", {2, 1}, {127, 129})},
            {}};
}

QuantizedFacts small_facts(const BlockNames& names) {
    return {names, "f32", {2, 3}};
}

std::vector<std::uint32_t> codes_of(const data::HostTensor& tensor, std::size_t width) {
    std::vector<std::uint32_t> codes(tensor.bytes.size() / width);
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
        codes[i / width] |= std::to_integer<std::uint32_t>(tensor.bytes[i]) << (8 * (i % width));
    return codes;
}

TEST(DequantizeTensor, GivesTheValues) {
    const QuantizedFacts facts = small_facts(names_of("mxfp8-e4m3"));
    const auto f32 = dequantize_tensor(small_file(), facts, "f32");
    ASSERT_TRUE(f32.ok()) << f32.error().message;
    const data::HostTensor& values = f32.value().tensors[0];
    EXPECT_EQ(values.name, "values");
    EXPECT_EQ(values.shape, (Shape{2, 3}));
    EXPECT_TRUE(f32.value().metadata.empty());
    const auto codes = codes_of(values, 4);
    // 1, -1, 448; 4 * 2^-9, 4 * -0, NaN.
    EXPECT_EQ(codes[0], 0x3f800000u);
    EXPECT_EQ(codes[1], 0xbf800000u);
    EXPECT_EQ(codes[2], 0x43e00000u);
    EXPECT_EQ(codes[3], 0x3c000000u);
    EXPECT_EQ(codes[4], 0x80000000u);
    EXPECT_GT(codes[5] & 0x7fffffffu, 0x7f800000u);
    const auto bf16 = dequantize_tensor(small_file(), facts, "bf16");
    ASSERT_TRUE(bf16.ok());
    EXPECT_EQ(codes_of(bf16.value().tensors[0], 2)[2], 0x43e0u);
    EXPECT_FALSE(dequantize_tensor(small_file(), facts, "f64").ok());
}

TEST(DequantizeTensor, RefusesWhatDoesNotFit) {
    const BlockNames names = names_of("mxfp8-e4m3");
    const auto message = [](const data::TensorFile& file, const BlockNames& with) {
        return error_of(dequantize_tensor(file, small_facts(with), "f32"));
    };
    ASSERT_EQ(message(small_file(), names), "no error");
    EXPECT_EQ(message(small_file(), names_of("mxfp8-e5m2")),
              "its metadata need tensor 'elements' to be e5m2 of shape (2, 3), but it is e4m3 of "
              "shape (2, 3)");
    EXPECT_EQ(message(small_file(), names_of("mxfp8-e4m3", "ocp", "col")),
              "its metadata need tensor 'scales' to be e8m0 of shape (1, 3), but it is e8m0 of "
              "shape (2, 1)");
    data::TensorFile file = small_file();
    file.tensors.pop_back();
    EXPECT_EQ(message(file, names), "has no tensor 'scales', which its metadata need");
    file = small_file();
    file.tensors[1].type = "u8";
    EXPECT_NE(message(file, names).find("but it is u8"), std::string::npos);
    file = small_file();
    file.tensors.push_back(byte_tensor("bias", "u8", {1}, {0}));
    EXPECT_EQ(message(file, names), "has a tensor 'bias', which its metadata say nothing of");
    file = small_file();
    file.tensors[0].shape = {3, 2};
    EXPECT_NE(message(file, names).find("shape (3, 2)"), std::string::npos);
}

// A byte that holds more than a code of four bits is not cut to one.
TEST(DequantizeTensor, RefusesBytesThatAreNoCodes) {
    BlockNames names = names_of("mxfp4-e2m1");
    names.packing = "bytes";
    data::TensorFile file{{byte_tensor("elements", "u8", {2, 3}, {0, 1, 15, 16, 2, 3}),
                           byte_tensor("scales", "e8m0", {2, 1}, {127, 127})},
                          {}};
    EXPECT_EQ(error_of(dequantize_tensor(file, small_facts(names), "f32")),
              "element 3 is byte 16, which is no code of 4 bits");
    file.tensors[0].bytes[3] = std::byte{7};
    const auto values = dequantize_tensor(file, small_facts(names), "f32");
    ASSERT_TRUE(values.ok()) << values.error().message;
    EXPECT_EQ(codes_of(values.value().tensors[0], 4)[3], 0x40c00000u);  // 6
}

}  // namespace
}  // namespace mx::emulate::test
