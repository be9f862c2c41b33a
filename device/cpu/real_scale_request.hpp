// Calls of quantize and dequantize whose scales have a mantissa, as jobs. Used by request.cpp. Must
// not compute.
#pragma once

#include "device/cpu/request.hpp"

namespace mx::cpu {

// By the format: those of OCP MX have powers of two.
bool has_real_scales(const mx_operation& operation);

Work quantize_real_scales_work(kit::Call& call);
Work dequantize_real_scales_work(kit::Call& call);

}  // namespace mx::cpu
