// Quantizing a tensor, and deriving scales from amax values. Used by the ABI glue, bench and tests.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

// Blocks of up to block_size lanes; scale (line, block) is at line * line_stride + block *
// lane_stride.
struct QuantizeJob {
    ValueType value_type;
    ElementType element_type;
    ScaleRule rule;
    Extent extent;
    ConstPlane values;
    Plane codes;
    Plane scales;
};

void quantize(const QuantizeJob& job);

struct EncodeScaleJob {
    ValueType value_type;
    ScaleRule rule;
    Extent extent;
    ConstPlane amax;
    Plane scales;
};

void encode_scales(const EncodeScaleJob& job);

}  // namespace mx::cpu
