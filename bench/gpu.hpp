// The GPU as the benchmark needs it: memory, a copy timed by events, caches emptied, and what the
// management library says of clocks and power. Without CUDA in this build nothing is available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "reference/base/status.hpp"

namespace mx::bench::gpu {

// Success, or why there is no GPU to measure on.
Status find();

struct Free {
    void operator()(std::uint8_t* bytes) const;
};
using Memory = std::unique_ptr<std::uint8_t, Free>;
Expected<Memory> allocate(std::size_t bytes);

Status upload(std::uint8_t* to, const void* from, std::size_t bytes);
Status download(void* to, const std::uint8_t* from, std::size_t bytes);

// Writes more than any cache holds, and waits.
Status flush();

struct Copy {
    std::uint8_t* to;
    const std::uint8_t* from;
    std::size_t bytes;
};
// Seconds of a copy within the GPU, by events.
Expected<double> seconds_of(const Copy& copy);

// "SM 1980 MHz, memory 3201 MHz, 412 W, 51 C, throttle none", or why that is not known.
std::string state();

}  // namespace mx::bench::gpu
