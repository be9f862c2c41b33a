// Values to elements without a scale. Used by the ABI glue and the tests.
#pragma once

#include "device/cpu/types.hpp"

namespace mx::cpu {

struct ConvertJob {
    ValueType value_type;
    ElementType element_type;
    OverflowMode overflow;
    Extent extent;
    ConstPlane values;
    Plane codes;
};

void convert(const ConvertJob& job);

}  // namespace mx::cpu
