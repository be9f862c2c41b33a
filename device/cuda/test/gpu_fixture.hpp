// A GPU for tests: memory that watches its ends, and the end of a test without one.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/cuda/bench/normal_data.hpp"
#include "device/cuda/types.hpp"

namespace mx::cuda::test {

inline constexpr std::uint8_t poison = 0xA5;
inline constexpr std::int64_t margin = 512;

// Bytes on the GPU, poisoned, with poisoned margins. `shift` moves them off their alignment.
class Bytes {
public:
    explicit Bytes(std::int64_t size, std::int64_t shift = 0);
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    ~Bytes() { cudaFree(base_); }

    std::uint8_t* data() const { return base_ + margin + shift_; }
    std::int64_t size() const { return size_; }
    std::vector<std::uint8_t> read() const;
    bool margins_are_whole() const;

private:
    std::int64_t whole() const { return size_ + shift_ + 2 * margin; }

    std::uint8_t* base_ = nullptr;
    std::int64_t size_;
    std::int64_t shift_;
};

class Gpu : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;
    // Waits, and fails the test on any error so far.
    void finish(cudaError_t started);

    cudaStream_t stream_ = nullptr;
};

}  // namespace mx::cuda::test
