// Calls of quantize and dequantize whose scales have a mantissa, as jobs. Used by request.cpp. Must
// not compute, and calls nothing of CUDA.
#pragma once

#include <string_view>

#include "device/cuda/request.hpp"

namespace mx::cuda {

// By the format: those of OCP MX have powers of two.
bool has_real_scales(const mx_operation& operation);
bool knows_real_scale_dialect(std::string_view dialect);

Job quantize_real_scales_job(kit::Call& call);
Job dequantize_real_scales_job(kit::Call& call);

}  // namespace mx::cuda
