// One GEMM of a device, every output of it, against the model of its arithmetic, on the GPU: the
// device gets tensors in GPU memory, and the fast oracle computes each output where they lie.
// Must not include a CUDA header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/data/gemm_tensors.hpp"
#include "device/host/device.hpp"

namespace mx::sweep {

// A GEMM and the codes of its tensors.
struct DrawnGemm {
    GemmProblem gemm;
    GemmDraw draw;
};

// "e4m3 x e5m2 to bf16, scales tensor x tensor, 256x256x1024, uniform"
std::string text_of(const DrawnGemm& asked);

// How it is computed, if the model is right.
struct GemmModelled {
    std::size_t model = 0;  // row of gemm_models
    GemmEpilogue epilogue;
    std::int64_t parts = 1;  // of K: split-K
};

// The row for what is asked of a GPU of this architecture, as cuBLASLt of CUDA 13 has it. As error:
// there is none, so that nothing is known.
Expected<GemmModelled> modelled(const DrawnGemm& asked, const std::string& algorithm,
                                int architecture);

struct GemmDifferences {
    std::uint64_t outputs = 0;
    std::uint64_t differing = 0;
    // One of them, if any.
    std::int64_t row = 0, column = 0;
    std::uint32_t actual = 0, expected = 0;
    double seconds = 0;  // of the model on the GPU; 0 where another algorithm has paid for it
    std::string
        refusal;  // the device lists the algorithm, and does not do it: nothing was compared
};

// The algorithms that the device lists for the GEMM, or why it does not do it.
struct GemmOffer {
    std::vector<std::string> algorithms;
    std::string refusal;  // "" where it does
};
Expected<GemmOffer> offer_of(Device& device, const GemmProblem& gemm);

// By each of the algorithms, in their order. The model works out an output once for all of them.
struct AskedAlgorithm {
    std::string name;
    GemmModelled modelled;
};
Expected<std::vector<GemmDifferences>> check_gemm(Device& device, const DrawnGemm& drawn,
                                                  const std::vector<AskedAlgorithm>& algorithms);

}  // namespace mx::sweep
