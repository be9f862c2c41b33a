// Elements and scales back to values. Used by the ABI glue, bench and tests.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

struct DequantizeJob {
    ElementType element_type;
    ValueType value_type;
    Extent extent;
    ConstPlane codes;
    ConstPlane scales;  // (line, block)
    Plane values;
};

void dequantize(const DequantizeJob& job);

}  // namespace mx::cpu
