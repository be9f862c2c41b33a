// Tensors of values as numbers of binary32. Used by gemm and by real_scale. Knows no blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/types.hpp"

namespace mx::cpu {

// Values of a type, with strides.
struct Values {
    ValueType type = ValueType::f32;
    Plane plane = {};
};

// The number at a place, of any type of values.
float value_at(const Values& values, std::ptrdiff_t line, std::ptrdiff_t lane);

// Rounds to the type, to nearest even. NaN is 0x7fffffff or 0x7fff.
void store_value(const Values& values, std::ptrdiff_t line, std::ptrdiff_t lane, float x);

// The nearest bfloat16, infinity beyond the largest.
float rounded_to_bf16(float x);

// The number that an element's code stands for.
float number_of(ElementType type, std::uint8_t code);

}  // namespace mx::cpu
