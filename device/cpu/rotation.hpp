// The 16-point Hadamard transform that TransformerEngine's NVFP4 has before quantizing. Used by
// real_scale.cpp.
#pragma once

#include <span>

namespace mx::cpu {

inline constexpr int rotation_size = 16;

// Changes the signs of 16 numbers of bfloat16, transforms them and multiplies them by 1/4: the
// exact sums, rounded once to bfloat16.
void rotate(std::span<float, rotation_size> lanes);

}  // namespace mx::cpu
