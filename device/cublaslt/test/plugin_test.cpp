// The plug-in as a whole: which host it serves, and what it says where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "device/cublaslt/test/plugin.hpp"

namespace mx::cublaslt::test {
namespace {

TEST(CublasLtPlugin, ServesItsAbiVersionOnly) {
    const mx_device_api* table = table_of(MX_DEVICE_ABI_VERSION);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->abi_version, MX_DEVICE_ABI_VERSION);
    EXPECT_EQ(table->struct_size, sizeof(mx_device_api));
    EXPECT_NE(table->list_algorithms, nullptr);
    EXPECT_EQ(table_of(MX_DEVICE_ABI_VERSION + 1), nullptr);
}

TEST(CublasLtPlugin, OpensOrSaysWhyNot) {
    int count = 0;
    const bool has_gpu = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    const mx_device_api* table = table_of(MX_DEVICE_ABI_VERSION);
    ASSERT_NE(table, nullptr);
    Message message;
    void* device = nullptr;
    const mx_status status = table->open(&device, &message.message);
    if (!has_gpu) {
        EXPECT_FALSE(must_have_gpu()) << message.text.data();
        EXPECT_EQ(status, MX_NOT_SUPPORTED);
        EXPECT_NE(std::string(message.text.data()).find("no GPU can be used here"),
                  std::string::npos)
            << message.text.data();
        EXPECT_EQ(device, nullptr);
        return;
    }
    ASSERT_EQ(status, MX_OK) << message.text.data();
    const mx_fact* facts = nullptr;
    EXPECT_EQ(table->describe(device, &facts), 6u);
    for (std::size_t i = 0; i < 6; ++i) std::printf("%s: %s\n", facts[i].key, facts[i].value);
    table->close(device);
}

// Without an open device the checks before cuBLASLt still answer.
TEST(CublasLtPlugin, RefusesBeforeItIsOpen) {
    const mx_device_api* table = table_of(MX_DEVICE_ABI_VERSION);
    ASSERT_NE(table, nullptr);
    const auto supports = [&](const Asked& asked) {
        GemmCall made = call_of(asked);
        const Call call = made.call();
        Message message;
        const mx_status status =
            table->supports(nullptr, call.operation, call.inputs, call.input_count, call.outputs,
                            call.output_count, &message.message);
        return Answer{status, message.text.data()};
    };
    EXPECT_EQ(supports({.k = 24}).status, MX_NOT_SUPPORTED);
    EXPECT_NE(supports({.k = 24}).sentence.find("K = 24"), std::string::npos);
    EXPECT_EQ(supports({.n = 0}).status, MX_OK);
    EXPECT_EQ(supports({}).status, MX_INVALID);
    EXPECT_EQ(supports({}).sentence, "the device is not open");
}

}  // namespace
}  // namespace mx::cublaslt::test
