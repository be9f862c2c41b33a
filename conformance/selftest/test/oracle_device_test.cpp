// The oracle's library as a device: its answers and its sentences come through. What it answers is
// tested in conformance/library/test.
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

TEST(OracleDevice, RefusesWithASentence) {
    float value = 1;
    std::uint8_t code = 0, scale = 0;
    const std::vector<mx_tensor> inputs{tensor("f32", &value, 1, 1)};
    const std::vector<mx_tensor> outputs{tensor("e4m3", &code, 1, 1), tensor("e8m0", &scale, 1, 1)};
    Answer answer = ask(operation("quantize", "mxfp8-e4m3", "opc"), inputs, outputs);
    EXPECT_EQ(answer.status, MX_NOT_SUPPORTED);
    EXPECT_EQ(answer.sentence, "unknown dialect 'opc'; did you mean 'ocp'?");
    answer = ask(operation("quantize", "mxfp8-e5m2", "ocp"), inputs, outputs);
    EXPECT_EQ(answer.status, MX_INVALID);
    EXPECT_EQ(answer.sentence, "the codes: type \"e4m3\" where e5m2 belongs");
}

}  // namespace
}  // namespace mx::selftest
