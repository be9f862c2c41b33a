// Whole tensors through the fast oracle: quantized to elements and scales, and back, for the block
// formats of the standard. Used by tensor_codec, which knows recipes too; opens no file.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/data/host_tensor.hpp"
#include "conformance/emulate/quantized_facts.hpp"
#include "reference/base/status.hpp"

namespace mx::emulate {

struct QuantizeCounts {
    std::uint64_t elements = 0;
    std::uint64_t blocks = 0;
    std::uint64_t saturated = 0;  // clamped to the largest finite value, infinities too
    std::uint64_t flushed = 0;    // not zero before, zero now
    std::uint64_t nan_scales = 0;
};

struct QuantizedTensor {
    data::TensorFile file;  // tensors "elements" and "scales", and metadata
    QuantizeCounts counts;
};

// The tensor holds f32, bf16 or f16. Blocks that are not full at the end of a row or column are
// quantized from the lanes there are.
//
// Memory: beside the tensor a byte an element and one a block, and a copy of one slice where axis
// and rank make several; packing comes after the tensor is gone. For f32 that is 1.26 times its
// bytes at most, 2.3 times with many slices.
Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const std::string& program_version);

// The values of a file that quantize_tensor made, in `type` and in the shape they had; `facts` are
// read_facts of it. As error: tensors that do not fit the facts.
//
// Memory: the values once, and the elements at one byte each; where these are packed, once more.
Expected<data::TensorFile> dequantize_tensor(data::TensorFile file, const QuantizedFacts& facts,
                                             const std::string& type);

}  // namespace mx::emulate
