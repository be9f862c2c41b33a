// The tensors of a GEMM setting as the device ABI has them, and the operation. Used by gemm_check.
#pragma once

#include <vector>

#include "conformance/sweep/gemm_check.hpp"

namespace mx::sweep {

enum class GemmPart : std::uint32_t { a, scales_a, b, scales_b, c, bias, scale_out, d };
enum class GemmContent { elements, numbers };

struct GemmTensor {
    GemmPart part;
    GemmContent content;
    TensorSpec spec;

    std::int64_t bytes() const;
};

// C and the bias are to have weight beside sums of any size.
std::uint32_t binades_of(const GemmTensor& tensor);

// In the order of the device ABI, D last.
std::vector<GemmTensor> tensors_of(const GemmSetting& setting);
TensorSpecs specs_of(const GemmSetting& setting);

Operation operation_of(const GemmSetting& setting, const std::string& algorithm);

// Of K, in each part of a split along it: whole tiles of 128 bytes. 0 where K is not split.
std::int64_t part_length(const GemmSetting& setting, const GemmModelled& modelled);

}  // namespace mx::sweep
