// Measuring a fact on the GPU: every input of its domain, counted there. Everything is in an
// unnamed namespace, since the files that include this are compiled with different flags.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "device/cuda/facts/fact.hpp"

namespace mx::cuda::facts {
namespace {

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// A copy of `values` in the memory of the GPU.
template <typename T>
class OnGpu {
public:
    explicit OnGpu(const std::vector<T>& values) {
        const std::size_t bytes = values.size() * sizeof(T);
        check(cudaMalloc(&data_, bytes));
        check(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice));
    }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;
    ~OnGpu() { cudaFree(data_); }

    T* data() const { return data_; }
    T first() const {
        T value;
        check(cudaMemcpy(&value, data_, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }

private:
    T* data_ = nullptr;
};

constexpr unsigned long long nowhere = ~0ull;

struct Tally {
    unsigned long long differences = 0;
    unsigned long long first = nowhere;  // counted from the first input of the range
};

// Each thread takes its inputs in ascending order, so the first it meets is its lowest.
template <typename Left, typename Right>
__global__ void count_differences(Left left, Right right, Range range, Tally* tally) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    Tally mine;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < range.count;
         i += stride) {
        const std::uint32_t input = range.first + static_cast<std::uint32_t>(i) * range.step;
        if (left(input) == right(input)) continue;
        if (mine.differences++ == 0) mine.first = i;
    }
    if (mine.differences == 0) return;
    atomicAdd(&tally->differences, mine.differences);
    atomicMin(&tally->first, mine.first);
}

template <typename Left, typename Right>
__global__ void show(Left left, Right right, Measured* place) {
    place->left = left(place->input);
    place->right = right(place->input);
}

template <typename Left, typename Right>
Measured measure(const Domain& domain, const Left& left, const Right& right) {
    constexpr unsigned threads = 256;
    constexpr std::uint64_t blocks_max = 4096;
    Measured found;
    for (const Range& range : domain) {
        const OnGpu<Tally> tally({Tally{}});
        const auto blocks =
            static_cast<unsigned>(std::min((range.count + threads - 1) / threads, blocks_max));
        count_differences<<<blocks, threads>>>(left, right, range, tally.data());
        check(cudaGetLastError());
        const Tally counted = tally.first();
        if (counted.differences != 0 && found.differences == 0) {
            found.input = range.first + static_cast<std::uint32_t>(counted.first) * range.step;
            const OnGpu<Measured> place({found});
            show<<<1, 1>>>(left, right, place.data());
            check(cudaGetLastError());
            found = place.first();
        }
        found.differences += counted.differences;
    }
    return found;
}

template <typename Left, typename Right>
Fact fact(Claim claim, Left left, Right right) {
    const Domain domain = claim.domain;
    return {std::move(claim), [=] { return measure(domain, left, right); }};
}

}  // namespace
}  // namespace mx::cuda::facts
