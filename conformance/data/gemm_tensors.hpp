// The tensors of a GEMM as the device ABI has them, its operation, and what comes after its sum.
// Used by the cases of operation gemm and by the sweeps on a GPU; fills no tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/data/gemm_codes.hpp"
#include "device/host/operation.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx {

// What is asked. Names are those of the device ABI; "" stands for its NULL.
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
    // As in a case.
    std::string addend = {};  // type of C; "" is what addend_type says
    std::string layout = "dense";
    std::string scale_order = "linear";
    std::string packing = "bytes";
    std::uint32_t scale_binades = 8;  // that the scales of blocks and factors are spread over
    // Of D in blocks along its rows, "1x32" or "1x16", and who makes them; "" where D is one number
    // an element.
    std::string scaling_out = {}, dialect = {};
};

enum class GemmPart : std::uint32_t { a, scales_a, b, scales_b, c, bias, scale_out, d, scales_d };

constexpr bool is_output(GemmPart part) {
    return part == GemmPart::d || part == GemmPart::scales_d;
}
enum class GemmContent { elements, numbers };

struct GemmTensor {
    GemmPart part;
    GemmContent content;
    TensorSpec spec;

    std::int64_t bytes() const;
};

// C and the bias are to have weight beside sums of any size.
std::uint32_t binades_of(const GemmTensor& tensor);

// In the order of the device ABI; D last, and its scales.
std::vector<GemmTensor> tensors_of(const GemmSetting& setting);

// `algorithm` is "" for the device's own choice.
Operation operation_of(const GemmSetting& setting, const std::string& algorithm);

// Elements of a row that share a scale: 32, 16 or 128; 0 where whole rows or none do.
std::int64_t block_of(const std::string& scaling);

// C has the type of D; of FP8 and FP4 there is none, so it is bfloat16.
std::string addend_type(const GemmSetting& setting);
bool has_bias(const GemmSetting& setting);

// How the sum becomes an output. Of `parts` along K. What becomes blocks is binary32 first.
GemmEpilogue epilogue_of(const GemmSetting& setting, std::int64_t parts);

// The number after "splitk=" in the name of an algorithm of cuBLASLt; 1 where there is none.
std::int64_t parts_of(const std::string& algorithm);

// Of K, in each part of a split along it: whole tiles of 128 bytes. 0 where K is not split.
std::int64_t part_length(const GemmSetting& setting, std::int64_t parts);

}  // namespace mx
