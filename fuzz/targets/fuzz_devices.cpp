// Any bytes as a matrix: the devices "cpu" and "nvhost" quantize it alike wherever both do. The
// first five bytes choose dialect, format, type, axis and rows; the rest are values.
#include <array>

#include "device/cpu/cpu_device.hpp"
#include "device/nvhost/nvhost_device.hpp"
#include "fuzz/device_blocks.hpp"
#include "fuzz/targets/round_trip.hpp"
#include "reference/spec/quantizers.hpp"

namespace {

mx::Device opened(const char* name, mx_device_get_api_function get_api) {
    auto device = mx::Device::open({.name = name, .get_api = get_api});
    mx::fuzz::require("the device opens", device.ok());
    return std::move(device).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static mx::Device cpu = opened("cpu", [](std::uint32_t) { return mx_cpu_device_api(); });
    static mx::Device nvhost =
        opened("nvhost", [](std::uint32_t) { return mx_nvhost_device_api(); });
    if (size < 6 || size > 16384) return 0;
    mx::fuzz::Matrix m;
    m.dialect = mx::e8m0_quantizers[data[0] % mx::e8m0_quantizers.size()].name;
    m.format = mx::mx_block_formats[data[1] % mx::mx_block_formats.size()].name;
    m.type = mx::input_types[data[2] % mx::input_types.size()];
    m.axis = data[3] % 2 == 0 ? "row" : "col";
    const std::size_t width = mx::element_width(m.type);
    const auto count = static_cast<std::int64_t>((size - 5) / width);
    m.rows = 1 + data[4] % 40;
    m.columns = count / m.rows;
    if (m.columns == 0) return 0;
    for (std::int64_t i = 0; i < m.rows * m.columns; ++i) {
        std::uint32_t value = 0;
        std::memcpy(&value, data + 5 + static_cast<std::size_t>(i) * width, width);
        m.values.push_back(value);
    }
    const auto one = quantize(cpu, m), other = quantize(nvhost, m);
    if (one && other) mx::fuzz::require("the devices agree", *one == *other);
    return 0;
}
