// The GEMMs of a benchmark: plain ones, which are the roof, and those of the device. Used by
// throughput.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/sampling.hpp"
#include "bench/throughput.hpp"

namespace mx::bench {

Status measure_gemms(const Bench& bench, const Wish& wish,
                     const std::function<bool(const results::BenchRow&)>& done);

// A call of the device as a job runs it. A request that it does not support is bad input, all else
// that goes wrong is of the device.
std::function<Expected<double>()> call_of(Device& device, double (*last_seconds)(),
                                          Operation operation, TensorBuffers buffers);

// The first run of a job, if the device says beforehand that it supports it.
Expected<double> first_run(Device& device, const Operation& operation, const TensorBuffers& buffers,
                           const Job& job);

// "4096x4096" as so many numbers, each 1 or more.
Expected<std::vector<std::int64_t>> shape_of(const std::string& text, std::size_t count);

}  // namespace mx::bench
