// CUDA calls in a row: the first that fails is remembered, and those after it are still harmless.
// Used by the .cu files of this folder.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "reference/base/status.hpp"

namespace mx::sweep {

class GpuCalls {
public:
    void note(const char* what, cudaError_t error) {
        if (error_ != cudaSuccess || error == cudaSuccess) return;
        error_ = error;
        what_ = what;
    }
    bool ok() const { return error_ == cudaSuccess; }
    Error error() const {
        return {ErrorKind::device,
                std::string("the GPU: ") + what_ + ": " + cudaGetErrorString(error_)};
    }

private:
    cudaError_t error_ = cudaSuccess;
    const char* what_ = "";
};

// How many inputs the threads asked for, one addition a warp. Every thread of the block must call
// it.
__device__ inline void count_asked(unsigned long long* total, std::uint32_t asked) {
    const std::uint32_t by_warp = __reduce_add_sync(0xFFFFFFFFu, asked);
    if (threadIdx.x % 32 == 0) atomicAdd(total, static_cast<unsigned long long>(by_warp));
}

inline Error unasked(std::uint64_t asked, std::uint64_t count) {
    return {ErrorKind::device, "the GPU asked for " + std::to_string(asked) + " inputs of " +
                                   std::to_string(count) + ": its answer says nothing"};
}

// A value on the GPU, zeros at first.
template <typename T>
class GpuValue {
public:
    explicit GpuValue(GpuCalls& calls, std::size_t count = 1) : calls_(calls) {
        calls_.note("no memory", cudaMalloc(&at_, count * sizeof(T)));
        if (calls_.ok()) calls_.note("no memory", cudaMemset(at_, 0, count * sizeof(T)));
    }
    GpuValue(const GpuValue&) = delete;
    GpuValue& operator=(const GpuValue&) = delete;
    ~GpuValue() { cudaFree(at_); }

    T* at() const { return at_; }
    void read(T* to, std::size_t count = 1) const {
        if (!calls_.ok()) return;
        calls_.note("the result", cudaMemcpy(to, at_, count * sizeof(T), cudaMemcpyDeviceToHost));
    }

private:
    GpuCalls& calls_;
    T* at_ = nullptr;
};

// Time on the GPU between two points of the default stream.
class GpuTimer {
public:
    explicit GpuTimer(GpuCalls& calls) : calls_(calls) {
        calls_.note("no event", cudaEventCreate(&start_));
        calls_.note("no event", cudaEventCreate(&end_));
        if (calls_.ok()) calls_.note("the start", cudaEventRecord(start_));
    }
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;
    ~GpuTimer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
    }

    // Waits for everything before it.
    double seconds() {
        float milliseconds = 0;
        if (!calls_.ok()) return 0;
        calls_.note("the sweep", cudaEventRecord(end_));
        calls_.note("the sweep", cudaEventSynchronize(end_));
        if (calls_.ok())
            calls_.note("the sweep", cudaEventElapsedTime(&milliseconds, start_, end_));
        return milliseconds / 1e3;
    }

private:
    GpuCalls& calls_;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

}  // namespace mx::sweep
