// See staging.hpp.
#include "device/cublaslt/staging.hpp"

#include <cstdint>

#include "device/cublaslt/failure.hpp"

namespace mx::cublaslt {
namespace {

// Of every copy: what cudaMalloc gives too, so that no algorithm is left out for it.
constexpr std::size_t alignment = 256;

std::size_t bytes_of(const mx_tensor& tensor) {
    return static_cast<std::size_t>(byte_extent(tensor));
}
std::size_t room_of(const mx_tensor& tensor) {
    return (bytes_of(tensor) + alignment - 1) / alignment * alignment;
}

std::vector<mx_tensor> copies_of(const mx_tensor* tensors, std::size_t count) {
    std::vector<mx_tensor> copies;
    for (std::size_t i = 0; i < count; ++i) {
        copies.push_back(tensor_at(tensors, i));
        copies.back().struct_size = sizeof(mx_tensor);
    }
    return copies;
}

}  // namespace

void GpuMemory::reserve(std::size_t bytes) {
    if (bytes <= size_) return;
    cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "making room on the GPU");
    data_ = static_cast<std::uint8_t*>(data);
    size_ = bytes;
}

Placement::Placement(const Call& call)
    : call_(call),
      inputs_(copies_of(call.inputs, call.input_count)),
      outputs_(copies_of(call.outputs, call.output_count)) {}

Call Placement::call() const {
    return {call_.operation, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size()};
}

void Placement::imagine(void* address) {
    for (auto* tensors : {&inputs_, &outputs_})
        for (mx_tensor& tensor : *tensors)
            if (!is_on_gpu(tensor) || tensor.data == nullptr) {
                tensor.data = address;
                tensor.place = "cuda";
            }
}

void Staging::copy_in() {
    std::size_t bytes = 0;
    for (const auto* tensors : {&inputs_, &outputs_})
        for (const mx_tensor& tensor : *tensors)
            if (!is_on_gpu(tensor)) bytes += room_of(tensor);
    memory_.reserve(bytes);
    std::uint8_t* to = memory_.data();
    for (auto* tensors : {&inputs_, &outputs_})
        for (mx_tensor& tensor : *tensors) {
            if (is_on_gpu(tensor)) continue;
            if (bytes_of(tensor) != 0)
                check(cudaMemcpyAsync(to, tensor.data, bytes_of(tensor), cudaMemcpyHostToDevice,
                                      stream_),
                      "copying to the GPU");
            tensor.data = to;
            tensor.place = "cuda";
            to += room_of(tensor);
        }
}

void Staging::copy_out() const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const mx_tensor& to = tensor_at(call_.outputs, i);
        if (is_on_gpu(to) || bytes_of(to) == 0) continue;
        check(cudaMemcpyAsync(to.data, outputs_[i].data, bytes_of(to), cudaMemcpyDeviceToHost,
                              stream_),
              "copying from the GPU");
    }
}

}  // namespace mx::cublaslt
