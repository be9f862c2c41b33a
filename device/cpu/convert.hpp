// Values to elements without a scale. Used by the ABI glue and the tests.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

struct ConvertJob {
    ValueType value_type;
    ElementType element_type;
    Conversion how;
    Extent extent;
    Plane values;
    Plane codes;
    Plane random;  // u32, where the rounding is stochastic
};

void convert(const ConvertJob& job);

}  // namespace mx::cpu
