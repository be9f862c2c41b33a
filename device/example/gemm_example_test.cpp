// The product to copy, by numbers worked out by hand. Loads it by path, as the host does.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/abi/mx_device.h"

namespace {

constexpr std::uint32_t one_f32 = 0x3F800000;

class GemmExample : public ::testing::Test {
protected:
    void SetUp() override {
        void* library = dlopen(MX_KIT_GEMM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << dlerror();
        const auto get_api =
            reinterpret_cast<mx_device_get_api_function>(dlsym(library, MX_DEVICE_ENTRY));
        ASSERT_NE(get_api, nullptr);
        api_ = get_api(MX_DEVICE_ABI_VERSION);
        ASSERT_NE(api_, nullptr);
        ASSERT_EQ(api_->open(&device_, nullptr), MX_OK);
    }
    void TearDown() override {
        if (api_ != nullptr) api_->close(device_);
    }

    static mx_tensor tensor(const char* type, void* data, std::int64_t rows, std::int64_t columns) {
        return {sizeof(mx_tensor), data, type, "host", "strided", rows, columns, columns, 1};
    }

    // Of two batches of 1 x 33 by 2 x 33, all of them 1 but for what a test changes.
    mx_status run() {
        mx_operation operation{};
        operation.struct_size = sizeof operation;
        operation.name = "gemm";
        operation.gemm = &gemm_;
        std::vector<mx_tensor> inputs{
            tensor("e4m3", a_.data(), 2, 33), tensor("e8m0", scales_a_.data(), 2, 2),
            tensor("e4m3", b_.data(), 4, 33), tensor("e8m0", scales_b_.data(), 4, 2)};
        if (gemm_.beta != 0) inputs.push_back(tensor("f32", c_.data(), 2, 2));
        const mx_tensor output = tensor("f32", d_.data(), 2, 2);
        std::string text(200, '\0');
        mx_message message{sizeof(mx_message), text.data(), text.size()};
        const mx_status status =
            api_->run(device_, &operation, inputs.data(), inputs.size(), &output, 1, &message);
        sentence_ = text.c_str();
        return status;
    }

    const mx_device_api* api_ = nullptr;
    void* device_ = nullptr;
    mx_gemm gemm_{sizeof(mx_gemm), 2,       one_f32, 0,       "1x32", "1x32",
                  nullptr,         nullptr, nullptr, nullptr, 0};
    std::vector<std::uint8_t> a_ = std::vector<std::uint8_t>(2 * 33, 0x38);
    std::vector<std::uint8_t> b_ = std::vector<std::uint8_t>(4 * 33, 0x38);
    std::vector<std::uint8_t> scales_a_ = std::vector<std::uint8_t>(4, 127);
    std::vector<std::uint8_t> scales_b_ = std::vector<std::uint8_t>(8, 127);
    std::vector<float> c_ = std::vector<float>(4, 1.0f), d_ = std::vector<float>(4, -7.0f);
    std::string sentence_;
};

TEST_F(GemmExample, SumsProductsUnderTheirScales) {
    b_[1 * 33 + 0] = 0x40;       // 2 in the second row of B
    scales_b_[2 * 2 + 1] = 130;  // 8 over the last element of the third
    ASSERT_EQ(run(), MX_OK) << sentence_;
    EXPECT_EQ(d_, (std::vector<float>{33, 34, 40, 33}));
    gemm_.alpha = 0x40000000;
    gemm_.beta = one_f32;
    ASSERT_EQ(run(), MX_OK) << sentence_;
    EXPECT_EQ(d_, (std::vector<float>{67, 69, 81, 67}));
}

TEST_F(GemmExample, SaysWhyItRefuses) {
    gemm_.scaling_a = "1x16";
    EXPECT_EQ(run(), MX_NOT_SUPPORTED);
    EXPECT_EQ(sentence_, "no scaling \"1x16\"; this device knows 1x32");
    gemm_.scaling_a = "1x32";
    gemm_.epilogue = "relu";
    EXPECT_EQ(run(), MX_NOT_SUPPORTED);
    gemm_.epilogue = nullptr;
    gemm_.batches = 3;
    EXPECT_EQ(run(), MX_INVALID);
    EXPECT_EQ(sentence_, "A is 2 x 33 and B is 4 x 33");
    EXPECT_EQ(d_[0], -7.0f);
}

}  // namespace
