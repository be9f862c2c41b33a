// See staging.hpp.
#include "device/cuda/staging.hpp"

#include <cstdint>

namespace mx::cuda {
namespace {

// Of every copy, so that the fast kernels take them.
constexpr std::size_t alignment = 256;

std::size_t bytes_of(const mx_tensor& tensor) {
    return static_cast<std::size_t>(byte_extent(tensor));
}

}  // namespace

cudaError_t GpuMemory::reserve(std::size_t bytes) {
    if (bytes <= size_) return cudaSuccess;
    cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    void* data = nullptr;
    const cudaError_t error = cudaMalloc(&data, bytes);
    if (error != cudaSuccess) return error;
    data_ = static_cast<std::uint8_t*>(data);
    size_ = bytes;
    return cudaSuccess;
}

// Offsets for now; the memory may still move.
void Staging::place(const mx_tensor* tensors, std::size_t count, std::vector<mx_tensor>& placed) {
    for (std::size_t i = 0; i < count; ++i) {
        placed.push_back(kit::tensor_at(tensors, i));
        mx_tensor& tensor = placed.back();
        tensor.struct_size = sizeof(mx_tensor);
        if (is_on_gpu(tensor)) continue;
        tensor.data = reinterpret_cast<void*>(bytes_);
        bytes_ += (bytes_of(tensor) + alignment - 1) / alignment * alignment;
    }
}

cudaError_t Staging::copy_in() {
    place(call_.inputs, call_.input_count, inputs_);
    place(call_.outputs, call_.output_count, outputs_);
    cudaError_t error = memory_.reserve(bytes_);
    const auto copy = [&](const mx_tensor* from, std::vector<mx_tensor>& tensors) {
        for (std::size_t i = 0; i < tensors.size() && error == cudaSuccess; ++i) {
            mx_tensor& tensor = tensors[i];
            if (is_on_gpu(tensor)) continue;
            tensor.data = memory_.data() + reinterpret_cast<std::uintptr_t>(tensor.data);
            tensor.place = "cuda";
            if (bytes_of(tensor) == 0) continue;
            error = cudaMemcpyAsync(tensor.data, kit::tensor_at(from, i).data, bytes_of(tensor),
                                    cudaMemcpyHostToDevice, stream_);
        }
    };
    copy(call_.inputs, inputs_);
    copy(call_.outputs, outputs_);
    return error;
}

kit::Arguments Staging::on_gpu() const {
    return {call_.operation, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size()};
}

cudaError_t Staging::copy_out() const {
    cudaError_t error = cudaSuccess;
    for (std::size_t i = 0; i < outputs_.size() && error == cudaSuccess; ++i) {
        const mx_tensor& to = kit::tensor_at(call_.outputs, i);
        if (is_on_gpu(to) || bytes_of(to) == 0) continue;
        error = cudaMemcpyAsync(to.data, outputs_[i].data, bytes_of(to), cudaMemcpyDeviceToHost,
                                stream_);
    }
    return error;
}

}  // namespace mx::cuda
