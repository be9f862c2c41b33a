// The ways in which this device multiplies: the algorithms of list_algorithms. Each has its own
// order of sums, and so its own bits; README.md has their arithmetic. Used by plugin.cpp. Throws
// what device/cublaslt/failure.hpp has.
#pragma once

#include <cublasLt.h>

#include <string>

#include "device/cublaslt/matmul.hpp"
#include "device/cublaslt/staging.hpp"
#include "device/hopper/kernels.hpp"

namespace mx::hopper {

// What a way may use.
struct Resources {
    cublasLtHandle_t handle;
    cublaslt::Workspace workspace;  // of cuBLASLt
    cublaslt::GpuMemory& memory;    // for what is made of the factors
    cudaStream_t stream;
};

struct Way {
    std::string_view name;
    // Why it does not do this product, "" where it does. Addresses are looked at where they are
    // not NULL; where there are no resources, cuBLASLt is not asked.
    std::string (*refusal)(const Product& product, const Resources* resources);
    void (*run)(const Product& product, const Resources& resources);
};

struct Ways {
    const Way* first;
    std::size_t count;

    const Way* begin() const { return first; }
    const Way* end() const { return first + count; }
};
// The first is the device's own choice.
Ways ways();
const Way* find_way(std::string_view name);

}  // namespace mx::hopper
