// A problem handed to cuBLASLt: its descriptors, the algorithms that the heuristic offers, and the
// call. Used by plugin.cpp. Must not know the device ABI; throws what failure.hpp has.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "device/cublaslt/problem.hpp"

namespace mx::cublaslt {

struct Workspace {
    void* data;
    std::size_t bytes;
};

struct Algorithm {
    std::string name;
    cublasLtMatmulAlgo_t value;
};

template <auto destroy>
struct Destroyer {
    template <typename Thing>
    void operator()(Thing* thing) const {
        destroy(thing);
    }
};
using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>,
                               Destroyer<cublasLtMatrixLayoutDestroy>>;
using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>,
                                    Destroyer<cublasLtMatmulDescDestroy>>;

class Matmul {
public:
    Matmul(cublasLtHandle_t handle, Workspace workspace, const Problem& problem);

    // At least one, each name once, in the order of the heuristic: the first is cuBLASLt's choice.
    // Depends on how the matrices are aligned, and on the size of the workspace.
    std::vector<Algorithm> algorithms() const;

    void run(const Algorithm& algorithm, cudaStream_t stream) const;

private:
    cublasLtHandle_t handle_;
    Workspace workspace_;
    const Problem& problem_;
    Description description_;
    Layout a_, b_, c_, d_;
};

}  // namespace mx::cublaslt
