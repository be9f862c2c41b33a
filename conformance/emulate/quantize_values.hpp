// Values that no type has held become a quantized file: the exact outputs of a GEMM as MX blocks
// with scales of their own, rounded once. Used by mxcheck gemm; opens no file.
#pragma once

#include <cstdint>

#include "conformance/emulate/quantize_tensor.hpp"
#include "reference/fast/decode.hpp"

namespace mx::emulate {

// Each with at most 62 digits, of which the last also stands for all that follow.
struct ValueTensor {
    std::vector<fast::Unpacked> values;
    std::vector<std::int64_t> shape;
};

// As error: names that check_names refuses, a recipe, and a dialect that reads nothing as wide as
// f32 and so says nothing of wider values. For completed names.
Status check_exact_names(const BlockNames& names);

// As quantize_tensor, by fast::quantize_exact_block. The file's input_type is "exact".
//
// Memory: the values, and a byte an element and one a block.
Expected<QuantizedTensor> quantize_values(const ValueTensor& tensor, const BlockNames& names,
                                          const std::string& program_version);

}  // namespace mx::emulate
