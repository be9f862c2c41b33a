// device_calls.hpp. Must not know how the device computes.
#include "bench/device_calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "device/abi/block_operation.hpp"
#include "device/cpu/cpu_device.hpp"

namespace mx::bench {
namespace {

std::size_t bytes_of(const CallSpec& spec, std::size_t width) {
    return static_cast<std::size_t>(spec.rows) * static_cast<std::size_t>(spec.columns) * width;
}
std::size_t value_width(const CallSpec& spec) {
    return spec.value_type == "f32" ? 4 : 2;
}

// "mxfp6-e3m2" is made of "e3m2", "mxint8" of "int8".
std::string element_of(const std::string& format) {
    const bool integer = format.rfind("mxint8", 0) == 0;
    return format.substr(integer ? 2 : format.find('-') + 1);
}

}  // namespace

DeviceCall::DeviceCall(CallSpec spec)
    : spec_(std::move(spec)),
      element_(element_of(spec_.format)),
      values_(bytes_of(spec_, value_width(spec_))),
      codes_(bytes_of(spec_, 1)),
      scales_(bytes_of(spec_, 1) / 32) {
    fill_values({values_.data(), values_.size()}, spec_.value_type, spec_.data);
    if (spec_.operation == "dequantize") call("quantize");
}

mx_tensor DeviceCall::tensor(Buffer& buffer, const char* type, std::int64_t rows,
                             std::int64_t columns) {
    return {sizeof(mx_tensor), buffer.data(), type, "host", "strided", rows, columns, columns, 1};
}

namespace {

[[noreturn]] void end_with(const char* what, const char* reason) {
    std::fprintf(stderr, "mxcheck_bench: the device refused %s: %s\n", what, reason);
    std::exit(3);
}

// The device, opened once for the whole program.
void* open_device(const mx_device_api& api) {
    char text[200] = "";
    mx_message message{sizeof(mx_message), text, sizeof text};
    void* device = nullptr;
    if (api.open(&device, &message) != MX_OK) end_with("to open", text);
    return device;
}

}  // namespace

void DeviceCall::run() {
    call(spec_.operation.c_str());
}

void DeviceCall::call(const char* operation) {
    const bool row = spec_.axis == "row";
    const mx_tensor values = tensor(values_, spec_.value_type.c_str(), spec_.rows, spec_.columns);
    const mx_tensor codes = tensor(codes_, element_.c_str(), spec_.rows, spec_.columns);
    const mx_tensor scales = tensor(scales_, "e8m0", row ? spec_.rows : spec_.rows / 32,
                                    row ? spec_.columns / 32 : spec_.columns);
    const mx_operation request =
        block_operation(operation, spec_.format.c_str(), spec_.dialect.c_str(), spec_.axis.c_str());
    char text[200] = "";
    mx_message message{sizeof(mx_message), text, sizeof text};
    const mx_tensor encoded[2] = {codes, scales};
    const bool quantizes = std::strcmp(operation, "quantize") == 0;
    const mx_device_api& api = *mx_cpu_device_api();
    static void* const device = open_device(api);
    const mx_status status = quantizes
                                 ? api.run(device, &request, &values, 1, encoded, 2, &message)
                                 : api.run(device, &request, encoded, 2, &values, 1, &message);
    if (status != MX_OK) end_with(operation, text);
}

}  // namespace mx::bench
