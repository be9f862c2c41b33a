// One GEMM of a device, every output of it, against the model of its arithmetic, on the GPU: the
// device gets tensors in GPU memory, and the fast oracle computes each output where they lie.
// Must not include a CUDA header.
#pragma once

#include <string>
#include <vector>

#include "conformance/sweep/gemm_data.hpp"
#include "device/host/device.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx::sweep {

// What is asked. Names are those of the device ABI.
struct GemmSetting {
    std::string a, b;    // types of the elements
    std::string output;  // type of D
    std::int64_t m = 0, n = 0, k = 0, batches = 1;
    std::string scaling_a = {}, scaling_b = {};
    std::uint32_t alpha = 0x3F800000, beta = 0;  // bits of binary32
    std::string epilogue = {};
    std::string accumulation = {};
    GemmData data = GemmData::uniform;
    std::uint64_t seed = 0;
};

// "e4m3 x e5m2 to bf16, tensor x tensor, 256x256x1024, uniform"
std::string text_of(const GemmSetting& setting);

// How it is computed, if the model is right.
struct GemmModelled {
    std::size_t model = 0;  // row of gemm_models
    GemmEpilogue epilogue;
    std::int64_t parts = 1;  // of K: split-K
};

// The row for what is asked of a GPU of this architecture, as cuBLASLt of CUDA 13 has it. As error:
// there is none, so that nothing is known.
Expected<GemmModelled> modelled(const GemmSetting& setting, const std::string& algorithm,
                                int architecture);

struct GemmDifferences {
    std::uint64_t outputs = 0;
    std::uint64_t differing = 0;
    // One of them, if any.
    std::int64_t row = 0, column = 0;
    std::uint32_t actual = 0, expected = 0;
    double seconds = 0;  // of the model on the GPU
};

// The algorithms that the device lists for the setting, or why it does not do it.
struct GemmOffer {
    std::vector<std::string> algorithms;
    std::string refusal;  // "" where it does
};
Expected<GemmOffer> offer_of(Device& device, const GemmSetting& setting);

Expected<GemmDifferences> check_gemm(Device& device, const GemmSetting& setting,
                                     const std::string& algorithm, const GemmModelled& modelled);

}  // namespace mx::sweep
