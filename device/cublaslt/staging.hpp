// Memory of the GPU for tensors of the host: copies in before a call, and out after it. Used by
// plugin.cpp. Knows bytes, not what they mean. Throws CudaFailure.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt {

// One stretch of memory that grows and is kept from call to call.
class GpuMemory {
public:
    GpuMemory() = default;
    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;
    ~GpuMemory() { cudaFree(data_); }

    void reserve(std::size_t bytes);
    std::uint8_t* data() const { return data_; }

private:
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

// The tensors of one call, with those that do not lie on the GPU lying somewhere else.
class Placement {
public:
    explicit Placement(const Call& call);

    Call call() const;
    // Puts every tensor that has no address on the GPU at `address`: for questions before a run.
    void imagine(void* address);

protected:
    Call call_;
    std::vector<mx_tensor> inputs_;
    std::vector<mx_tensor> outputs_;
};

// Outputs are copied in as well: what cuBLASLt leaves alone must come back as it was.
class Staging : public Placement {
public:
    Staging(const Call& call, GpuMemory& memory, cudaStream_t stream)
        : Placement(call), memory_(memory), stream_(stream) {}

    void copy_in();
    void copy_out() const;

private:
    GpuMemory& memory_;
    cudaStream_t stream_;
};

}  // namespace mx::cublaslt
