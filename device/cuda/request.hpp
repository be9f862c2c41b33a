// One call of the device ABI, checked and turned into a job of this device, or of the device hip,
// whose jobs are the same. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute, and calls nothing of CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "device/cuda/real_scale.hpp"
#include "device/cuda/types.hpp"
#include "device/kit/call.hpp"

namespace mx::cuda {

struct QuantizeJob {
    BlockJob blocks;
};
struct DequantizeJob {
    BlockJob blocks;
};
// Blocks whose scale has a mantissa, of axis "both" those of the rows and those of the columns.
struct QuantizeRealScalesJob {
    RealScaleJob blocks;
    std::optional<RealScaleJob> columns;
};
struct DequantizeRealScalesJob {
    RealScaleJob blocks;
};
using Job = std::variant<QuantizeJob, BothJob, DequantizeJob, ConvertJob, EncodeScaleJob,
                         QuantizeRealScalesJob, DequantizeRealScalesJob>;

// A job that points to what the tensors point to, which may lie on the host or in `memory`, the
// place of the GPU's own. Refuses what the kernels do not do.
Job job_of(const kit::Arguments& call, kit::Buffers buffers, std::string_view memory = "cuda");

// Bytes from the first byte of a tensor, which job_of has accepted, to the end of its last element
// or pad.
std::int64_t byte_extent(const mx_tensor& tensor);

// Whether the tensor, which job_of has accepted, lies in the memory of the GPU already.
bool is_on_gpu(const mx_tensor& tensor);

}  // namespace mx::cuda
