// The table opened in this process: what crosses the ABI, and every fault short of a crash.
#include "device/host/device.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "device/host/test/plugin_under_test.hpp"

namespace mx {
namespace {

std::string open_error(std::string_view flaw) {
    const Expected<Device> device = Device::open(test::plugin(flaw));
    if (device.ok()) return "opened";
    EXPECT_EQ(device.error().kind, ErrorKind::device);
    const std::string prefix = "device \"" + test::plugin(flaw).path + "\" ";
    EXPECT_EQ(device.error().message.substr(0, prefix.size()), prefix);
    return device.error().message.substr(prefix.size());
}

CallResult supports_convert(std::string_view flaw) {
    Expected<Device> device = Device::open(test::plugin(flaw));
    if (!device) return {MX_FAILED, device.error().message};
    return device.value().supports({.name = "convert"},
                                   {{dense("f32", 1, 1)}, {dense("e8m0", 1, 1)}});
}

TEST(Device, RunsAndTellsItsFacts) {
    Device device = Device::open(test::plugin("none")).value();
    ASSERT_EQ(device.facts().size(), 3u);
    EXPECT_EQ(device.facts()[0], (Facts::value_type{"name", "test plug-in"}));
    EXPECT_EQ(device.facts()[2], (Facts::value_type{"notes", "unknown"}));
    float values[2] = {1, 4};
    unsigned char codes[2] = {};
    const TensorBuffers buffers{{{dense("f32", 1, 2), values}}, {{dense("e8m0", 1, 2), codes}}};
    EXPECT_EQ(device.run({.name = "convert"}, buffers).status, MX_OK);
    EXPECT_EQ(codes[0], 127);
    EXPECT_EQ(codes[1], 129);
}

TEST(Device, AnEmptyMemberCrossesAsNull) {
    EXPECT_EQ(supports_convert("none").status, MX_OK);
    Device device = Device::open(test::plugin("none")).value();
    const TensorSpecs specs{{dense("f32", 1, 1)}, {dense("e8m0", 1, 1)}};
    const CallResult with_axis = device.supports({.name = "convert", .axis = "row"}, specs);
    EXPECT_EQ(with_axis.status, MX_NOT_SUPPORTED);
    EXPECT_EQ(with_axis.message, "only convert");
}

TEST(Device, AWrongTableIsASentence) {
    EXPECT_EQ(open_error("null_table"),
              "refuses device ABI versions 1 to 7, which this mxcheck speaks, and serves no other "
              "up to version 16");
    EXPECT_EQ(open_error("other_abi_only"),
              "serves device ABI version 8, this mxcheck speaks versions 1 to 7");
    EXPECT_EQ(open_error("other_abi_table"),
              "was built for device ABI version 8, this mxcheck speaks versions 1 to 7");
    EXPECT_EQ(open_error("short_table"),
              "returned a table of " + std::to_string(sizeof(mx_device_api) - sizeof(void*)) +
                  " bytes, device ABI version 7 has " + std::to_string(sizeof(mx_device_api)));
    EXPECT_EQ(open_error("missing_run"), "returned a table without the function run");
    EXPECT_EQ(open_error("null_facts"), "described 3 facts at the address NULL");
    EXPECT_EQ(open_error("failed_open"), "did not open: MX_FAILED, the unit is asleep");
    EXPECT_EQ(open_error("throw_in_open"),
              "did not open: MX_FAILED, open threw a C++ exception across the C ABI: no such unit");
}

// It answers MX_OK to all of these itself: it does not know what it is asked.
TEST(Device, APlugInOfVersionOneIsAskedOnlyWhatItCanSee) {
    Device device = Device::open(test::plugin("abi_version_1")).value();
    const auto reason = [&](const Operation& operation, const TensorSpec& output) {
        const CallResult result = device.supports(operation, {{dense("f32", 1, 1)}, {output}});
        EXPECT_EQ(result.status == MX_OK, result.message.empty());
        return result.message;
    };
    const TensorSpec strided = dense("e8m0", 1, 1);
    EXPECT_EQ(reason({.name = "convert"}, strided), "");
    EXPECT_EQ(reason({.name = "convert", .block_size = 32}, strided), "");
    EXPECT_EQ(reason({.name = "convert", .block_size = 16}, strided),
              "a plug-in of device ABI version 1 has blocks of 32, not of 16");
    EXPECT_EQ(reason({.name = "convert", .subnormals = "honoured"}, strided), "");
    EXPECT_EQ(reason({.name = "convert", .subnormals = "inputs_flushed"}, strided),
              "a plug-in of device ABI version 1 honours subnormals and has no inputs_flushed");
    EXPECT_EQ(reason({.name = "convert", .axis = "tile"}, strided),
              "a plug-in of device ABI version 1 has axis row and col, not tile");
    EXPECT_EQ(reason({.name = "convert"}, {"e8m0", 1, 1, 0, 0, "8x4"}),
              "a plug-in of device ABI version 1 has strided tensors, not layout 8x4");
    Device newer = Device::open(test::plugin("none")).value();
    const TensorSpecs swizzled{{dense("f32", 1, 1)}, {{"e8m0", 1, 1, 0, 0, "8x4"}}};
    EXPECT_EQ(newer.supports({.name = "convert", .block_size = 16}, swizzled).status, MX_OK);
}

// It would answer MX_OK, as above.
TEST(Device, AnOlderPlugInIsNotAskedForBothAxesAtOnce) {
    const TensorSpecs specs{{dense("f32", 1, 1)}, {dense("e8m0", 1, 1)}};
    const auto answer = [&](const char* plugin, const char* axis) {
        Device device = Device::open(test::plugin(plugin)).value();
        return device.supports({.name = "convert", .axis = axis, .block_size = 32}, specs).message;
    };
    EXPECT_EQ(answer("abi_version_1", "both"),
              "a plug-in of device ABI version 1 has no axis both");
    EXPECT_EQ(answer("abi_version_3", "both"),
              "a plug-in of device ABI version 3 has no axis both");
    EXPECT_EQ(answer("abi_version_3", "row"), "only convert");
    EXPECT_EQ(answer("none", "both"), "only convert");
}

// It would answer "only convert", as above: it does not know what these scales are.
TEST(Device, AnOlderPlugInIsNotAskedForScalesWithAMantissa) {
    const auto answer = [&](const char* plugin, const char* name, const char* scale) {
        Device device = Device::open(test::plugin(plugin)).value();
        const std::vector<TensorSpec> values{dense("f32", 1, 16)};
        const std::vector<TensorSpec> encoded{dense("e2m1", 1, 16), dense(scale, 1, 1)};
        const bool quantizes = std::string_view(name) == "quantize";
        const TensorSpecs specs =
            quantizes ? TensorSpecs{values, encoded} : TensorSpecs{encoded, values};
        return device.supports({.name = name, .axis = "row", .block_size = 32}, specs).message;
    };
    for (const char* name : {"quantize", "dequantize"}) {
        for (const char* scale : {"ue4m3", "f32"}) {
            EXPECT_EQ(answer("abi_version_3", name, scale),
                      "a plug-in of device ABI version 3 has scales of type e8m0 alone");
            EXPECT_EQ(answer("none", name, scale), "only convert");
        }
        EXPECT_EQ(answer("abi_version_3", name, "e8m0"), "only convert");
    }
}

// It would take one B for all rows, as an older one does not see the groups.
TEST(Device, AnOlderPlugInIsNotAskedForAGroupedGemm) {
    const TensorSpecs specs{{dense("bf16", 4, 16), dense("bf16", 8, 16), dense("i32", 1, 3)},
                            {dense("f32", 4, 4)}};
    const auto answer = [&](const char* plugin, std::int64_t groups) {
        Device device = Device::open(test::plugin(plugin)).value();
        return device.supports({.name = "gemm", .gemm = GemmOperation{.groups = groups}}, specs)
            .message;
    };
    EXPECT_EQ(answer("abi_version_3", 2), "a plug-in of device ABI version 3 has no grouped gemm");
    EXPECT_EQ(answer("abi_version_6", 2), "a plug-in of device ABI version 6 has no grouped gemm");
    EXPECT_EQ(answer("abi_version_6", 0), "only convert");
    EXPECT_EQ(answer("none", 2), "only convert");
}

TEST(Device, AConfigurationReachesTheDeviceThatTakesOne) {
    DeviceSource source = test::plugin("configured");
    source.configuration = "unit=3,mode=fast";
    Device device = Device::open(source).value();
    EXPECT_EQ(device.facts()[2], (Facts::value_type{"notes", "unit=3,mode=fast"}));
    source.configuration = "color=red";
    const Expected<Device> refused = Device::open(source);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, "device \"" + source.path +
                                           "\" did not open: MX_INVALID, there is no color, only "
                                           "unit and mode");
}

TEST(Device, AConfigurationThatNobodyReadsIsAnError) {
    for (const char* plugin : {"none", "abi_version_3", "abi_version_1"}) {
        DeviceSource source = test::plugin(plugin);
        source.configuration = "unit=3";
        const Expected<Device> device = Device::open(source);
        ASSERT_FALSE(device.ok());
        EXPECT_EQ(device.error().message, "device \"" + source.path +
                                              "\" takes no configuration, and \"unit=3\" was "
                                              "given");
    }
}

TEST(Device, AMessageIsReadNoFurtherThanItsBuffer) {
    EXPECT_EQ(supports_convert("message_without_end").message, std::string(1024, 'x'));
    const CallResult overrun = supports_convert("message_overrun");
    EXPECT_EQ(overrun.status, MX_FAILED);
    EXPECT_EQ(overrun.message, "supports wrote past the end of its message buffer");
    EXPECT_EQ(supports_convert("message_with_control_characters").message,
              "two lines  [31m and ? caf\xC3\xA9");
}

TEST(Device, AlgorithmsOfAGemmAreItsOwnChoiceWhereItListsNone) {
    Device device = Device::open(test::plugin("none")).value();
    Operation gemm{.name = "gemm"};
    gemm.gemm = GemmOperation{};
    EXPECT_EQ(device.algorithms(gemm, {}).value(), std::vector<std::string>{""});
    Device old = Device::open(test::plugin("abi_version_1")).value();
    EXPECT_EQ(old.supports(gemm, {}).message, "a plug-in of device ABI version 1 has no gemm");
}

// A device without a handle is open all the same, and must be closed.
int closed_null_devices = 0;

const mx_device_api* null_handle_api(std::uint32_t) {
    static const mx_device_api table = {
        sizeof(mx_device_api),
        MX_DEVICE_ABI_VERSION,
        [](void** device, mx_message*) { return *device = nullptr, MX_OK; },
        [](void* device) { closed_null_devices += device == nullptr ? 1 : 100; },
        [](void*, const mx_fact**) { return std::size_t{0}; },
        [](void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*, std::size_t,
           mx_message*) { return MX_OK; },
        [](void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*, std::size_t,
           mx_message*) { return MX_OK; },
        nullptr,
        nullptr};
    return &table;
}

TEST(Device, ANullHandleIsClosedOnce) {
    closed_null_devices = 0;
    {
        Device first = Device::open({"null", "", null_handle_api}).value();
        const Device second = std::move(first);
        EXPECT_EQ(closed_null_devices, 0);
    }
    EXPECT_EQ(closed_null_devices, 1);
}

}  // namespace
}  // namespace mx
