// The throughput of any device behind the ABI: quantize, dequantize and GEMM over a grid of shapes
// and types, beside the roofs of the same run. Used by mxcheck bench. The device runs in this very
// process; must not know how it computes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/data.hpp"
#include "conformance/results/bench_record.hpp"
#include "device/host/device.hpp"

namespace mx::bench {

struct CodedAs {
    std::string format, dialect;
};

struct Wish {
    std::vector<std::string> operations = {};  // of quantize, dequantize, gemm
    std::vector<CodedAs> formats = {};
    std::vector<std::string> types = {}, shapes = {}, gemm_shapes = {};
    Data data = Data::realistic;
    bool on_gpu = false;         // where the tensors lie
    double seconds_per_row = 1;  // that the samples of a row may take
};

// What measures: the device, its own clock if it has one, and the device that has the best plain
// GEMM, if there is one.
struct Bench {
    Device& device;
    double (*last_seconds)() = nullptr;
    Device* plain_gemm = nullptr;
    double (*plain_last_seconds)() = nullptr;
};

// Every row goes to `done` as it ends, and an error ends it all: the GPU was lost, or there is no
// memory. What the device does not support is a row with its reason. False from `done` stops.
Status measure(const Bench& bench, const Wish& wish,
               const std::function<bool(const results::BenchRow&)>& done);

}  // namespace mx::bench
