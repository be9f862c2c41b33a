// Quantizing a tensor, and deriving scales from amax values. Used by the ABI glue, bench and tests.
#pragma once

#include "device/cpu/blocks.hpp"

namespace mx::cpu {

void quantize(const BlockJob& job);

struct EncodeScaleJob {
    ValueType value_type;
    ScaleRule rule;
    Extent extent;
    Plane amax;  // signs are ignored
    Plane scales;
};

void encode_scales(const EncodeScaleJob& job);

}  // namespace mx::cpu
