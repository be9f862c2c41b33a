// The conversions of NVIDIA under plain names: the only way from this room into cuda_fp8.h. Each is
// one call of the vendor's; whatever it answers is the answer. Knows nothing of blocks or the ABI.
#pragma once

#include <cstdint>

namespace mx::nvhost {

enum class Element { e4m3, e5m2 };
enum class ValueType { f32, bf16, f16 };

// What becomes of a value beyond the largest: __NV_SATFINITE or __NV_NOSAT.
enum class Saturation { satfinite, nosat };

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

// To nearest even, by the vendor's entry point for that type.
std::uint8_t convert(Value value, Element element, Saturation saturation);
// To E8M0, rounded toward +infinity. The vendor's function ignores the sign.
std::uint8_t encode_e8m0(float value, Saturation saturation);

float element_to_float(ElementCode element);
float e8m0_to_float(std::uint8_t scale);

// "CUDART_VERSION 13000": the version as the headers write it.
const char* header_version();

}  // namespace mx::nvhost
