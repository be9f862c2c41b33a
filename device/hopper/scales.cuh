// Scales of E8M0 on the GPU: where a byte lies and what it stands for. Used by the .cu files.
#pragma once

#include <cstdint>

#include "device/hopper/kernels.hpp"

namespace mx::hopper {

__device__ inline std::uint8_t scale_byte(const Scales& scales, std::int64_t row, std::int64_t at) {
    if (!scales.is_tiled) return scales.data[row * scales.row_stride + at * scales.column_stride];
    return scales.data[(row / 128 * scales.tiles_along + at / 4) * 512 + row % 32 * 16 +
                       row % 128 / 32 * 4 + at % 4];
}

// 2^(byte - 127): the byte is the exponent field of binary32, but that 0 stands for the subnormal
// 2^-127 and 255 for NaN.
__device__ inline float scale_of(std::uint8_t byte) {
    const std::uint32_t bits = byte == 0     ? 0x00400000u
                               : byte == 255 ? 0x7FFFFFFFu
                                             : static_cast<std::uint32_t>(byte) << 23;
    return __uint_as_float(bits);
}

// alpha * sum + beta * C by one fused multiply-add; a +0 stands for C where there is none, so that
// no -0 is left.
__device__ inline float finished(float alpha, float sum, float addend) {
    return fmaf(alpha, sum, addend);
}

}  // namespace mx::hopper
