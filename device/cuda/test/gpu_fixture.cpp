// See gpu_fixture.hpp.
#include "device/cuda/test/gpu_fixture.hpp"

#include <algorithm>

#include "device/cuda/test/require_gpu.hpp"

namespace mx::cuda::test {

Bytes::Bytes(std::int64_t size, std::int64_t shift) : size_(size), shift_(shift) {
    void* base = nullptr;
    EXPECT_EQ(cudaMalloc(&base, static_cast<std::size_t>(whole())), cudaSuccess);
    base_ = static_cast<std::uint8_t*>(base);
    EXPECT_EQ(cudaMemset(base_, poison, static_cast<std::size_t>(whole())), cudaSuccess);
    // The streams of the tests do not wait for the one that this went to.
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

std::vector<std::uint8_t> Bytes::read() const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size_));
    EXPECT_EQ(cudaMemcpy(bytes.data(), data(), bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
}

bool Bytes::margins_are_whole() const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(whole()));
    EXPECT_EQ(cudaMemcpy(bytes.data(), base_, bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto is_poison = [](std::uint8_t byte) { return byte == poison; };
    const auto begin = bytes.begin() + margin + shift_;
    return std::all_of(bytes.begin(), begin, is_poison) &&
           std::all_of(begin + size_, bytes.end(), is_poison);
}

void Gpu::SetUp() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) MX_END_WITHOUT_GPU(cudaGetErrorString(error));
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
}

void Gpu::TearDown() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void Gpu::finish(cudaError_t started) {
    ASSERT_EQ(started, cudaSuccess) << cudaGetErrorString(started);
    const cudaError_t error = cudaStreamSynchronize(stream_);
    ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

}  // namespace mx::cuda::test
