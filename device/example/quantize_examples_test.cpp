// The plug-ins people copy must themselves be right: the one in C and the one on the kit, which do
// the same. Loads them by path, as the host does, and holds them to bytes worked out by hand from
// OCP MX v1.0 section 6.3. Knows nothing of reference/ or the host.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "device/abi/block_operation.hpp"
#include "device/abi/mx_device.h"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint8_t unwritten = 0xA5;

struct Result {
    mx_status status;
    std::string reason;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;
};

struct Shape {
    std::int64_t rows, columns;
};

class Example : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        library_ = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << dlerror();
        get_api_ = reinterpret_cast<mx_device_get_api_function>(dlsym(library_, MX_DEVICE_ENTRY));
        ASSERT_NE(get_api_, nullptr);
        api_ = get_api_(MX_DEVICE_ABI_VERSION);
        ASSERT_NE(api_, nullptr);
    }
    void TearDown() override {
        if (library_ != nullptr) dlclose(library_);
    }

    // Quantises `values`; every other output byte is a gap that must stay as it was.
    Result quantize(std::vector<float> values, Shape shape, const mx_operation& operation) {
        const std::int64_t blocks = (shape.columns + 31) / 32;
        Result result{MX_FAILED, "", {}, {}};
        result.codes.assign(static_cast<std::size_t>(2 * shape.rows * shape.columns), unwritten);
        result.scales.assign(static_cast<std::size_t>(2 * shape.rows * blocks), unwritten);
        const mx_tensor input{sizeof(mx_tensor), values.data(), "f32",         "host", "strided",
                              shape.rows,        shape.columns, shape.columns, 1};
        const std::array<mx_tensor, 2> outputs{
            mx_tensor{sizeof(mx_tensor), result.codes.data(), "e4m3", "host", "strided", shape.rows,
                      shape.columns, 2 * shape.columns, 2},
            mx_tensor{sizeof(mx_tensor), result.scales.data(), "e8m0", "host", "strided",
                      shape.rows, blocks, 2 * blocks, 2}};
        std::array<char, 200> text{};
        mx_message message{sizeof(mx_message), text.data(), text.size()};
        result.status = api_->run(nullptr, &operation, &input, 1, outputs.data(), 2, &message);
        result.reason = text.data();
        return result;
    }
    Result quantize_row(const std::vector<float>& values) {
        const Shape shape{1, static_cast<std::int64_t>(values.size())};
        return quantize(values, shape, ocp_rows());
    }

    static mx_operation ocp_rows() {
        return mx::block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    }
    void* library_ = nullptr;
    mx_device_get_api_function get_api_ = nullptr;
    const mx_device_api* api_ = nullptr;
};

struct Block {
    std::vector<float> block;
    std::uint8_t scale;
    std::vector<std::uint8_t> codes;
};

const std::vector<Block>& blocks() {
    static const std::vector<Block> list{
        {{480.0f}, 127, {0x7E}},  // saturates to 448
        {{448.0f}, 127, {0x7E}},
        {{496.0f}, 127, {0x7E}},
        {{1.0f}, 119, {0x78}},
        {{2.8f, -1.2f}, 120, {0x7B, 0xF2}},                  // 358.4 -> 352, -153.6 -> -160
        {{256.0f, 17.0f, -19.0f}, 127, {0x78, 0x58, 0xDA}},  // ties to even: 16, -20
        {{256.0f, 17.01f, 15.9f}, 127, {0x78, 0x59, 0x58}},  // above the tie; carry into 2^4
        {{0x1.fffffep+7f}, 126, {0x7E}},                     // 511.99997 saturates, the scale stays
        {{0x1p-120f}, 0, {0x70}},                            // 2^-127 is the smallest scale
        {{0x1p-149f, -0x1p-136f}, 0, {0x00, 0x81}},          // f32 subnormals are values
        {{256.0f, 0x1p-9f, 0x1p-10f, 0x1.8p-9f}, 127, {0x78, 0x01, 0x00, 0x02}},
        {{256.0f, 0x1.fp-7f, 0x1.cp-7f}, 127, {0x78, 0x08, 0x07}},  // into the first normal
        {{0.0f, -0.0f}, 0, {0x00, 0x80}},
        {{std::numeric_limits<float>::max()}, 246, {0x7E}},
        {{1.0f, nan_value, -0.0f}, 0xFF, {0x7F, 0x7F, 0x7F}},
        {{1.0f, -nan_value}, 0xFF, {0x7F, 0x7F}},
        {{1.0f, -infinity}, 0xFF, {0x7F, 0x7F}},
    };
    return list;
}

TEST_P(Example, GivesTheBytesWorkedOutByHand) {
    for (const Block& example : blocks()) {
        SCOPED_TRACE(example.block[0]);
        const Result result = quantize_row(example.block);
        ASSERT_EQ(result.status, MX_OK) << result.reason;
        EXPECT_EQ(result.scales[0], example.scale);
        for (std::size_t lane = 0; lane < example.codes.size(); ++lane) {
            EXPECT_EQ(result.codes[2 * lane], example.codes[lane]) << "lane " << lane;
            EXPECT_EQ(result.codes[2 * lane + 1], unwritten) << "gap after lane " << lane;
        }
    }
}

TEST_P(Example, QuantisesEachBlockOfEachRowAloneAndThePartialLastOne) {
    std::vector<float> values(2 * 40, 1.0f);
    values[31] = 300.0f;  // last lane of the first block
    values[79] = 2.0f;    // last lane of the last, partial block
    const Result result = quantize(values, {2, 40}, ocp_rows());
    ASSERT_EQ(result.status, MX_OK) << result.reason;
    EXPECT_EQ(result.scales, (std::vector<std::uint8_t>{127, unwritten, 119, unwritten, 119,
                                                        unwritten, 120, unwritten}));
    EXPECT_EQ(result.codes[0], 0x38);       // 1.0 under 2^0
    EXPECT_EQ(result.codes[2 * 32], 0x78);  // 256 under 2^-8
    EXPECT_EQ(result.codes[2 * 79], 0x78);
}

TEST_P(Example, DoesNothingWhenThereIsNothing) {
    EXPECT_EQ(quantize({}, {0, 64}, ocp_rows()).status, MX_OK);
    EXPECT_EQ(quantize({}, {3, 0}, ocp_rows()).status, MX_OK);
}

TEST_P(Example, SaysWhyItRefuses) {
    mx_operation other = ocp_rows();
    other.dialect = "nv";
    const Result refused = quantize({1.0f}, {1, 1}, other);
    EXPECT_EQ(refused.status, MX_NOT_SUPPORTED);
    EXPECT_FALSE(refused.reason.empty());
    EXPECT_EQ(refused.codes[0], unwritten);
    other = ocp_rows();
    other.axis = nullptr;
    EXPECT_EQ(quantize({1.0f}, {1, 1}, other).status, MX_NOT_SUPPORTED);
    other = ocp_rows();
    other.block_size = 16;
    EXPECT_EQ(quantize({1.0f}, {1, 1}, other).status, MX_NOT_SUPPORTED);
    EXPECT_EQ(get_api_(MX_DEVICE_ABI_VERSION + 1), nullptr);
}

TEST_P(Example, DescribesItself) {
    void* device = nullptr;
    ASSERT_EQ(api_->open(&device, nullptr), MX_OK);
    const mx_fact* facts = nullptr;
    ASSERT_GT(api_->describe(device, &facts), 0u);
    EXPECT_STREQ(facts[0].key, "name");
    api_->close(device);
}

INSTANTIATE_TEST_SUITE_P(Quantizers, Example, ::testing::Values(MX_MINIMAL_PLUGIN, MX_KIT_PLUGIN),
                         [](const auto& info) { return info.index == 0 ? "InC" : "OnTheKit"; });

}  // namespace
