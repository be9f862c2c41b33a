// The vector kernels of dequantize. Used by dequantize.cpp.
#pragma once

#include "device/cpu/blocks.hpp"

namespace mx::cpu {

std::size_t dequantize_run(const Run& run);
std::size_t dequantize_strip(const Strip& strip);

}  // namespace mx::cpu
