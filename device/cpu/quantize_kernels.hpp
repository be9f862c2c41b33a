// The vector kernels of quantize: the fast path of the device. Used by quantize.cpp. Both return 0
// on a machine without vectors.
#pragma once

#include "device/cpu/blocks.hpp"

namespace mx::cpu {

std::size_t quantize_run(const Run& run);
std::size_t quantize_strip(const Strip& strip);

}  // namespace mx::cpu
