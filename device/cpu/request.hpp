// One call of the device ABI, checked and turned into the device's own types. Used by plugin.cpp.
// Knows names, shapes and contradictions; must not compute.
#pragma once

#include <variant>
#include <vector>

#include "device/cpu/convert.hpp"
#include "device/cpu/dequantize.hpp"
#include "device/cpu/gemm.hpp"
#include "device/cpu/layouts.hpp"
#include "device/cpu/quantize.hpp"
#include "device/cpu/real_scale.hpp"
#include "device/kit/call.hpp"

namespace mx::cpu {

struct QuantizeJob {
    BlockJob blocks;
};
struct DequantizeJob {
    BlockJob blocks;
};
struct QuantizeRealScalesJob {
    RealScaleJob blocks;
};
struct DequantizeRealScalesJob {
    RealScaleJob blocks;
};

// What is to be done: on the caller's strided tensors, or on dense copies of others, which are
// unpacked before and packed after.
struct Work {
    std::variant<ConvertJob, EncodeScaleJob, QuantizeJob, DequantizeJob, QuantizeRealScalesJob,
                 DequantizeRealScalesJob, GemmJob>
        job;
    std::vector<Staged> inputs;
    std::vector<Staged> outputs;
};

// One piece of work; two for axis "both", one after the other. Refuses what this device does not
// do.
std::vector<Work> works_of(const kit::Arguments& call, kit::Buffers buffers);

}  // namespace mx::cpu
