// The conversions of NVIDIA under plain names: the only way from this room into cuda_fp8.h,
// cuda_fp6.h and cuda_fp4.h. Each is
// one call of the vendor's; whatever it answers is the answer. Knows nothing of blocks or the ABI.
#pragma once

#include <cstdint>

namespace mx::nvhost {

enum class Element { e4m3, e5m2, e3m2, e2m3, e2m1 };
enum class ValueType { f32, bf16, f16 };

// What becomes of a value beyond the largest: __NV_SATFINITE or __NV_NOSAT.
// FP6 and FP4 always saturate.
enum class Saturation { satfinite, nosat };

// Of elements, nearest even or toward zero, which FP6 and FP4 alone have; of E8M0 scales, up or
// toward zero.
enum class Rounding { nearest_even, toward_zero, toward_positive };
struct Conversion {
    Saturation saturation = Saturation::satfinite;
    Rounding rounding = Rounding::nearest_even;
};

// The bits of a value of some type, right-aligned.
struct Value {
    ValueType type;
    std::uint32_t bits;
};

struct ElementCode {
    Element element;
    std::uint8_t code;
};

// Exact, but the vendor's half to float conversion drops the sign of a NaN.
float to_float(Value value);
// To nearest even.
Value from_float(float value, ValueType type);

// By the vendor's entry point for that type.
std::uint8_t convert(Value value, Element element, Conversion how);
// To E8M0. The vendor's functions ignore the sign.
std::uint8_t encode_e8m0(float value, Conversion how);

float element_to_float(ElementCode element);
float e8m0_to_float(std::uint8_t scale);

// "CUDART_VERSION 13000": the version as the headers write it.
const char* header_version();

}  // namespace mx::nvhost
