// The oracle as a device: right by bytes typed by hand, strides kept, refusals with a sentence.
#include "conformance/selftest/oracle_device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "device/abi/block_operation.hpp"

namespace mx::selftest {
namespace {

mx_tensor tensor(const char* type, void* data, std::int64_t rows, std::int64_t columns) {
    return {sizeof(mx_tensor), data, type, "host", "strided", rows, columns, columns, 1};
}

mx_operation operation(const char* name, const char* format, const char* dialect) {
    return block_operation(name, format, dialect, "row");
}

struct Answer {
    mx_status status;
    std::string sentence;
};

Answer ask(const mx_operation& asked, const std::vector<mx_tensor>& inputs,
           const std::vector<mx_tensor>& outputs) {
    char text[200] = "";
    mx_message message{sizeof(mx_message), text, sizeof text};
    const mx_status status = oracle_device_api()->run(nullptr, &asked, inputs.data(), inputs.size(),
                                                      outputs.data(), outputs.size(), &message);
    return {status, text};
}

// OCP MX 6.3 by hand: amax 448 = 1.75 * 2^8 gives scale 2^(8 - 8), so each code is its value's.
TEST(OracleDevice, QuantizesABlock) {
    std::array<float, 3> values{448.0f, -1.0f, 0.0f};
    std::array<std::uint8_t, 3> codes{};
    std::uint8_t scale = 0;
    const Answer answer =
        ask(operation("quantize", "mxfp8-e4m3", "ocp"), {tensor("f32", values.data(), 1, 3)},
            {tensor("e4m3", codes.data(), 1, 3), tensor("e8m0", &scale, 1, 1)});
    EXPECT_EQ(answer.status, MX_OK) << answer.sentence;
    EXPECT_EQ(codes, (std::array<std::uint8_t, 3>{0x7E, 0xB8, 0x00}));
    EXPECT_EQ(scale, 127);
}

TEST(OracleDevice, QuantizesColumnsApart) {
    std::array<float, 4> values{448.0f, 1.75f, 448.0f, 1.75f};  // columns of 448 and of 1.75
    std::array<std::uint8_t, 4> codes{};
    std::array<std::uint8_t, 2> scales{};
    mx_operation asked = operation("quantize", "mxfp8-e4m3", "ocp");
    asked.axis = "col";
    ask(asked, {tensor("f32", values.data(), 2, 2)},
        {tensor("e4m3", codes.data(), 2, 2), tensor("e8m0", scales.data(), 1, 2)});
    EXPECT_EQ(codes, (std::array<std::uint8_t, 4>{0x7E, 0x7E, 0x7E, 0x7E}));
    EXPECT_EQ(scales, (std::array<std::uint8_t, 2>{127, 119}));
}

TEST(OracleDevice, KeepsTheGapsOfStrides) {
    std::array<std::uint8_t, 6> codes{0x38, 0x40, 0xAA, 0x38, 0x40, 0xAA};  // 1, 2, gap
    std::array<std::uint8_t, 2> scales{127, 128};
    std::array<float, 6> values{9, 9, 9, 9, 9, 9};
    mx_tensor in = tensor("e4m3", codes.data(), 2, 2), out = tensor("f32", values.data(), 2, 2);
    in.row_stride = out.row_stride = 3;
    ask(operation("dequantize", "mxfp8-e4m3", "ocp"), {in, tensor("e8m0", scales.data(), 2, 1)},
        {out});
    EXPECT_EQ(values, (std::array<float, 6>{1, 2, 9, 2, 4, 9}));
}

TEST(OracleDevice, RefusesWithASentence) {
    float value = 1;
    std::uint8_t code = 0, scale = 0;
    const std::vector<mx_tensor> inputs{tensor("f32", &value, 1, 1)};
    const std::vector<mx_tensor> outputs{tensor("e4m3", &code, 1, 1), tensor("e8m0", &scale, 1, 1)};
    Answer answer = ask(operation("quantize", "mxfp8-e4m3", "opc"), inputs, outputs);
    EXPECT_EQ(answer.status, MX_NOT_SUPPORTED);
    EXPECT_EQ(answer.sentence, "the oracle knows no dialect \"opc\"");
    answer = ask(operation("swizzle", "mxfp8-e4m3", "ocp"), inputs, outputs);
    EXPECT_EQ(answer.status, MX_NOT_SUPPORTED);
    EXPECT_EQ(answer.sentence,
              "no operation \"swizzle\"; this device knows convert, encode_scale, quantize and "
              "dequantize");
    answer = ask(operation("quantize", "mxfp8-e5m2", "ocp"), inputs, outputs);
    EXPECT_EQ(answer.status, MX_INVALID);
    EXPECT_EQ(answer.sentence, "the first output: type \"e4m3\" where e5m2 belongs");
    answer = ask(operation("quantize", "mxfp8-e4m3", "ocp"), inputs, {});
    EXPECT_EQ(answer.status, MX_INVALID);
    mx_operation none = operation("convert", "e4m3", "ocp");
    answer = ask(none, inputs, {outputs[0]});
    EXPECT_EQ(answer.sentence, "the oracle knows no rounding NULL");
}

}  // namespace
}  // namespace mx::selftest
