// Tensors of a measurement, on the host or on the GPU, and the calls that are made with them. Used
// by throughput.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/data.hpp"
#include "bench/gpu.hpp"
#include "device/host/device.hpp"

namespace mx::bench {

// One tensor that owns its memory.
class Placed {
public:
    static Expected<Placed> make(const TensorSpec& spec, bool on_gpu);

    // Of as many bytes as the tensor has.
    Status fill_with(const std::vector<std::uint8_t>& bytes);
    Expected<std::vector<std::uint8_t>> bytes() const;
    TensorBuffer buffer() const;
    std::uint8_t* data() const { return host_ ? host_->data() : memory_.get(); }
    std::size_t size() const { return size_; }

private:
    TensorSpec spec_;
    std::size_t size_ = 0;
    std::unique_ptr<Buffer> host_;
    gpu::Memory memory_;
};

// Values of a type that are like those of a network, or as hard as `data` says.
std::vector<std::uint8_t> values_of(const TensorSpec& spec, Data data);

}  // namespace mx::bench
