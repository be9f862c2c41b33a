// Whole tensors through the fast oracle: quantized to elements and scales, and back. Used by
// mxcheck quantize and dequantize; opens no file.
#pragma once

#include <string>

#include "conformance/data/host_tensor.hpp"
#include "device/host/status.hpp"

namespace mx::emulate {

// Ids of the tables; what a quantized file says about itself.
struct BlockNames {
    std::string format;
    std::string dialect;
    std::string axis;
};

// As error: a name that its table does not have.
Status check_names(const BlockNames& names);

struct QuantizeCounts {
    std::uint64_t elements = 0;
    std::uint64_t blocks = 0;
    std::uint64_t saturated = 0;   // clamped to the largest finite value, infinities too
    std::uint64_t flushed = 0;     // not zero before, zero now
    std::uint64_t nan_scales = 0;
};

struct QuantizedTensor {
    data::TensorFile file;  // tensors "elements" and "scales", and metadata
    QuantizeCounts counts;
};

// The tensor holds f32, bf16 or f16. Blocks that are not full at the end of a row or column are
// quantized from the lanes there are.
Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const std::string& program_version);

// The names a quantized file goes by: those it carries, completed by `given`, in which "" is not
// given. As error: a name that neither has, or one that both have and that differs.
Expected<BlockNames> names_in(const data::TensorFile& file, const BlockNames& given);

// The values of a file that quantize_tensor made, in `type`, shaped as its elements. As error: a
// tensor that is missing, has another type or does not fit the other.
Expected<data::TensorFile> dequantize_tensor(data::TensorFile file, const BlockNames& names,
                                             const std::string& type);

}  // namespace mx::emulate
