// Calls of the device through its ABI, ready to be repeated. Used by the benchmarks and the ratios.
#pragma once

#include <cstdint>
#include <string>

#include "bench/data.hpp"
#include "device/abi/mx_device.h"

namespace mx::bench {

struct CallSpec {
    std::string operation;  // "quantize" or "dequantize"
    std::string format = "mxfp8-e4m3";
    std::string dialect = "ocp";
    std::string axis = "row";
    std::string value_type = "f32";
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Data data = Data::realistic;
};

// Buffers and the call on them. Dequantize reads what a quantize of the same data wrote.
class DeviceCall {
public:
    explicit DeviceCall(CallSpec spec);

    // Ends the program with a sentence when the device refuses: a benchmark of nothing is worse.
    void run();
    double values() const {
        return static_cast<double>(spec_.rows) * static_cast<double>(spec_.columns);
    }
    Buffer& value_buffer() { return values_; }
    Buffer& code_buffer() { return codes_; }
    Buffer& scale_buffer() { return scales_; }

private:
    mx_tensor tensor(Buffer& buffer, const char* type, std::int64_t rows, std::int64_t columns);
    void call(const char* operation);

    CallSpec spec_;
    std::string element_;
    Buffer values_;
    Buffer codes_;
    Buffer scales_;
};

}  // namespace mx::bench
