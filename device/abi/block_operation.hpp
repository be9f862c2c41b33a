// The request for an operation on blocks as a caller of a device makes it: what is not named here
// is NULL or 0. For tests and benchmarks; not installed.
#pragma once

#include "device/abi/mx_device.h"

namespace mx {

inline mx_operation block_operation(const char* name, const char* format, const char* dialect,
                                    const char* axis) {
    mx_operation operation{};
    operation.struct_size = sizeof operation;
    operation.name = name;
    operation.format = format;
    operation.dialect = dialect;
    operation.axis = axis;
    operation.block_size = 32;
    return operation;
}

}  // namespace mx
