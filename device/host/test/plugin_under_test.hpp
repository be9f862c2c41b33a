// Shared by the tests of isolated devices: the plug-ins, and one question that all of them accept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/device_source.hpp"
#include "device/host/isolated_device.hpp"

namespace mx::test {

inline std::string plugin_path(std::string_view name) {
    return std::string(MX_TEST_PLUGINS) + "/" + std::string(name) + ".so";
}

inline DeviceSource plugin(std::string_view flaw) {
    DeviceSource source;
    source.name = std::string(flaw);
    source.path = plugin_path("test_plugin_" + std::string(flaw));
    return source;
}

// The device converts element i, 2^(i mod 100), to the exponent byte 127 + i mod 100.
struct ConvertQuestion {
    explicit ConvertQuestion(Shape shape)
        : ConvertQuestion(dense("f32", shape), dense("e8m0", shape)) {}
    ConvertQuestion(const TensorSpec& input, const TensorSpec& output)
        : data(byte_extent(input).value()) {
        for (std::int64_t row = 0; row < input.rows; ++row) {
            for (std::int64_t column = 0; column < input.columns; ++column) {
                const auto index = static_cast<std::uint32_t>(row * input.columns + column);
                const std::uint32_t bits = (127u + index % 100u) << 23;
                const auto place =
                    static_cast<std::size_t>(row * input.row_stride + column * input.column_stride);
                std::memcpy(&data[place * 4], &bits, 4);
                expected.push_back(static_cast<std::byte>(bits >> 23));
            }
        }
        question.operation.name = "convert";
        question.inputs.push_back({input, data});
        question.outputs.push_back(output);
    }
    ConvertQuestion(const ConvertQuestion&) = delete;

    std::vector<std::byte> data;
    std::vector<std::byte> expected;
    Question question;
};

inline DeviceAnswer ask_plugin(std::string_view flaw, const ConvertQuestion& asked,
                               const Limits& limits = {}) {
    Expected<IsolatedDevice> device = IsolatedDevice::start(plugin(flaw), limits);
    if (!device) return {AnswerKind::device_error, "START FAILED: " + device.error().message};
    return device.value().ask(asked.question);
}

inline DeviceAnswer ask_plugin(std::string_view flaw) {
    return ask_plugin(flaw, ConvertQuestion({3, 5}));
}

}  // namespace mx::test
