// One call of the device ABI, checked and turned into products. Used by plugin.cpp. Knows names,
// shapes and contradictions; must not compute, and calls nothing of CUDA.
#pragma once

#include <string>
#include <vector>

#include "device/cublaslt/call_checks.hpp"
#include "device/hopper/kernels.hpp"

namespace mx::hopper {

using cublaslt::Buffers;
using cublaslt::Refusal;

struct Request {
    std::vector<Product> batches;
    std::string algorithm;  // "": the device's own choice

    bool writes_nothing() const {
        const Product& one = batches.front();
        return one.a.rows == 0 || one.b.rows == 0;
    }
};

// Products that point to what the tensors point to, wherever that lies. Refuses what this device
// does not multiply.
Request request_of(const cublaslt::Call& call, Buffers buffers);

}  // namespace mx::hopper
