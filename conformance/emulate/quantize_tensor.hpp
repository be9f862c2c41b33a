// Whole tensors through the fast oracle: quantized to elements and scales, and back, by any row of
// the quantizer table. Opens no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/data/host_tensor.hpp"
#include "conformance/emulate/quantized_facts.hpp"
#include "reference/base/status.hpp"
#include "reference/spec/delayed_scaling.hpp"

namespace mx::emulate {

struct QuantizeCounts {
    std::uint64_t elements = 0;
    std::uint64_t blocks = 0;
    std::uint64_t saturated = 0;  // clamped to the largest finite value, infinities too
    std::uint64_t flushed = 0;    // not zero before, zero now
    std::uint64_t nan_scales = 0;
};

struct QuantizedTensor {
    data::TensorFile file;  // "elements", "scales", maybe "tensor_scale", and metadata
    QuantizeCounts counts;
};

// What only some dialects ask for.
struct QuantizeOptions {
    std::string program_version = {};
    std::uint64_t seed = 0;          // of the bits for stochastic rounding
    DelayedScaling delayed = {};     // of a dialect with a history
    std::vector<Code> history = {};  // binary32, the newest amax first
    Code previous_scale{0x3F800000};
};

// The tensor holds f32, bf16 or f16; the names are completed ones. Blocks that are not full at the
// end of a row or column are quantized from the lanes there are. Where the dialect has a number for
// the whole tensor, it is that of all slices, and "tensor_scale" holds what dequantize needs: for
// TransformerEngine's NVFP4 the amax, as it keeps it, else S.
//
// Memory: beside the tensor a byte an element and one a block, and a copy of one slice where axis
// and rank make several; packing comes after the tensor is gone. For f32 that is 1.26 times its
// bytes at most, 2.3 times with many slices. A rotation, random bits, a scale with a mantissa: some
// copies of a slice more.
Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const QuantizeOptions& options);

// The values of a file that quantize_tensor made, in `type` and in the shape they had; `facts` are
// read_facts of it. What a dialect has rotated stays so. As error: tensors that do not fit the
// facts.
//
// Memory: the values once, and the elements at one byte each; where these are packed, once more.
Expected<data::TensorFile> dequantize_tensor(data::TensorFile file, const QuantizedFacts& facts,
                                             const std::string& type);

}  // namespace mx::emulate
