// Elements and scales back to values. Used by the ABI glue, bench and tests.
#pragma once

#include "device/cpu/blocks.hpp"

namespace mx::cpu {

void dequantize(const BlockJob& job);

}  // namespace mx::cpu
