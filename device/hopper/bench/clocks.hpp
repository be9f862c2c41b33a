// The clock that the multiprocessors ran at, on average, while work was done on a stream. Used by
// the benchmark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cublaslt/staging.hpp"

namespace mx::hopper {

class Clocks {
public:
    Clocks();
    // Put readings on the stream, before and after the work.
    void begin(cudaStream_t stream);
    void end(cudaStream_t stream);
    // Of the work between the two, once it is done.
    double megahertz() const;

private:
    cublaslt::GpuMemory memory_;
};

}  // namespace mx::hopper
