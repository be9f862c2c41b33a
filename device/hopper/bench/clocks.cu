// See clocks.hpp.
#include "device/hopper/bench/clocks.hpp"

#include <vector>

#include "device/hopper/failure.hpp"

namespace mx::hopper {
namespace {

constexpr int most = 256;      // multiprocessors
constexpr int threads = 1024;  // so many that blocks spread over all of them

// Cycles and nanoseconds of one multiprocessor; zeros where it has not been asked.
struct Reading {
    std::uint64_t cycles, nanoseconds;
};

__global__ void read(Reading* to) {
    if (threadIdx.x != 0) return;
    unsigned multiprocessor = 0;
    Reading reading{static_cast<std::uint64_t>(clock64()), 0};
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(reading.nanoseconds));
    if (multiprocessor < most) to[multiprocessor] = reading;
}

void put(Reading* to, cudaStream_t stream) {
    read<<<most, threads, 0, stream>>>(to);
    check(cudaGetLastError(), "reading clocks");
}

}  // namespace

Clocks::Clocks() {
    memory_.reserve(2 * most * sizeof(Reading));
}

void Clocks::begin(cudaStream_t stream) {
    check(cudaMemsetAsync(memory_.data(), 0, 2 * most * sizeof(Reading), stream), "clearing");
    put(reinterpret_cast<Reading*>(memory_.data()), stream);
}

void Clocks::end(cudaStream_t stream) {
    put(reinterpret_cast<Reading*>(memory_.data()) + most, stream);
}

double Clocks::megahertz() const {
    std::vector<Reading> read(2 * most);
    check(cudaMemcpy(read.data(), memory_.data(), read.size() * sizeof(Reading),
                     cudaMemcpyDeviceToHost),
          "copying");
    double cycles = 0, nanoseconds = 0;
    for (std::size_t i = 0; i < most; ++i) {
        const Reading &first = read[i], &last = read[i + most];
        if (first.nanoseconds == 0 || last.nanoseconds <= first.nanoseconds) continue;
        cycles += static_cast<double>(last.cycles - first.cycles);
        nanoseconds += static_cast<double>(last.nanoseconds - first.nanoseconds);
    }
    return nanoseconds == 0 ? 0 : cycles / nanoseconds * 1e3;
}

}  // namespace mx::hopper
