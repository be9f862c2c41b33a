// Memory of the GPU for tensors of the host: copies in before a call, and out after it. Used by
// plugin.cpp. Knows bytes, not what they mean.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "device/cuda/request.hpp"

namespace mx::cuda {

// One stretch of memory that grows and is kept from call to call.
class GpuMemory {
public:
    GpuMemory() = default;
    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;
    ~GpuMemory() { cudaFree(data_); }

    cudaError_t reserve(std::size_t bytes);
    std::uint8_t* data() const { return data_; }

private:
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

// The tensors of one call with those of the host replaced by copies on the GPU. Outputs are copied
// in as well: what the kernels leave alone must come back as it was.
class Staging {
public:
    Staging(const kit::Arguments& call, GpuMemory& memory, cudaStream_t stream)
        : call_(call), memory_(memory), stream_(stream) {}

    cudaError_t copy_in();
    kit::Arguments on_gpu() const;
    cudaError_t copy_out() const;

private:
    void place(const mx_tensor* tensors, std::size_t count, std::vector<mx_tensor>& placed);

    kit::Arguments call_;
    GpuMemory& memory_;
    cudaStream_t stream_;
    std::vector<mx_tensor> inputs_;
    std::vector<mx_tensor> outputs_;
    std::size_t bytes_ = 0;
};

}  // namespace mx::cuda
