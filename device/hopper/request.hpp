// One call of the device ABI, checked and turned into products. Used by plugin.cpp. Knows names,
// shapes and contradictions; must not compute, and calls nothing of CUDA.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "device/cublaslt/tensors.hpp"
#include "device/hopper/kernels.hpp"

namespace mx::hopper {

// Why a call is not served: MX_NOT_SUPPORTED or MX_INVALID, with a sentence.
struct Refusal {
    mx_status status;
    std::string reason;
};

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

struct Request {
    std::vector<Product> batches;
    std::string algorithm;  // "": the device's own choice

    bool writes_nothing() const {
        const Product& one = batches.front();
        return one.a.rows == 0 || one.b.rows == 0;
    }
};

// Products that point to what the tensors point to, wherever that lies.
std::variant<Request, Refusal> request_of(const cublaslt::Call& call, Buffers buffers);

}  // namespace mx::hopper
