// The translation unit that compiles NVIDIA's headers for the host. See vendor.hpp.
#include "device/nvhost/vendor.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <cstring>

#define MX_TEXT_OF_ARGUMENT(argument) #argument
#define MX_TEXT_OF(macro) MX_TEXT_OF_ARGUMENT(macro)

namespace mx::nvhost {
namespace {

float float_of_bits(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

__half_raw half_of(std::uint32_t bits) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(bits);
    return raw;
}

__nv_bfloat16_raw bfloat16_of(std::uint32_t bits) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(bits);
    return raw;
}

__nv_saturation_t vendor_name(Saturation saturation) {
    return saturation == Saturation::satfinite ? __NV_SATFINITE : __NV_NOSAT;
}
cudaRoundMode vendor_name(Rounding rounding) {
    switch (rounding) {
        case Rounding::toward_zero:
            return cudaRoundZero;
        case Rounding::toward_positive:
            return cudaRoundPosInf;
        case Rounding::nearest_even:
            break;
    }
    return cudaRoundNearest;
}

bool is_fp8(Element element) {
    return element == Element::e4m3 || element == Element::e5m2;
}
__nv_fp8_interpretation_t fp8_name(Element element) {
    return element == Element::e4m3 ? __NV_E4M3 : __NV_E5M2;
}
__nv_fp6_interpretation_t fp6_name(Element element) {
    return element == Element::e3m2 ? __NV_E3M2 : __NV_E2M3;
}

std::uint8_t to_fp8(Value value, Element element, Conversion how) {
    const __nv_saturation_t overflow = vendor_name(how.saturation);
    const __nv_fp8_interpretation_t format = fp8_name(element);
    switch (value.type) {
        case ValueType::bf16:
            return __nv_cvt_bfloat16raw_to_fp8(bfloat16_of(value.bits), overflow, format);
        case ValueType::f16:
            return __nv_cvt_halfraw_to_fp8(half_of(value.bits), overflow, format);
        case ValueType::f32:
            break;
    }
    return __nv_cvt_float_to_fp8(float_of_bits(value.bits), overflow, format);
}

std::uint8_t to_fp6(Value value, Element element, Conversion how) {
    const cudaRoundMode rounding = vendor_name(how.rounding);
    const __nv_fp6_interpretation_t format = fp6_name(element);
    switch (value.type) {
        case ValueType::bf16:
            return __nv_cvt_bfloat16raw_to_fp6(bfloat16_of(value.bits), format, rounding);
        case ValueType::f16:
            return __nv_cvt_halfraw_to_fp6(half_of(value.bits), format, rounding);
        case ValueType::f32:
            break;
    }
    return __nv_cvt_float_to_fp6(float_of_bits(value.bits), format, rounding);
}

std::uint8_t to_fp4(Value value, Conversion how) {
    const cudaRoundMode rounding = vendor_name(how.rounding);
    switch (value.type) {
        case ValueType::bf16:
            return __nv_cvt_bfloat16raw_to_fp4(bfloat16_of(value.bits), __NV_E2M1, rounding);
        case ValueType::f16:
            return __nv_cvt_halfraw_to_fp4(half_of(value.bits), __NV_E2M1, rounding);
        case ValueType::f32:
            break;
    }
    return __nv_cvt_float_to_fp4(float_of_bits(value.bits), __NV_E2M1, rounding);
}

}  // namespace

float to_float(Value value) {
    switch (value.type) {
        case ValueType::bf16:
            return __bfloat162float(__nv_bfloat16(bfloat16_of(value.bits)));
        case ValueType::f16:
            return __half2float(__half(half_of(value.bits)));
        case ValueType::f32:
            break;
    }
    return float_of_bits(value.bits);
}

Value from_float(float value, ValueType type) {
    std::uint32_t bits = 0;
    switch (type) {
        case ValueType::bf16:
            bits = static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
            break;
        case ValueType::f16:
            bits = static_cast<__half_raw>(__float2half_rn(value)).x;
            break;
        case ValueType::f32:
            std::memcpy(&bits, &value, sizeof(bits));
            break;
    }
    return {type, bits};
}

std::uint8_t convert(Value value, Element element, Conversion how) {
    if (is_fp8(element)) return to_fp8(value, element, how);
    return element == Element::e2m1 ? to_fp4(value, how) : to_fp6(value, element, how);
}

std::uint8_t encode_e8m0(float value, Conversion how) {
    return __nv_cvt_float_to_e8m0(value, vendor_name(how.saturation), vendor_name(how.rounding));
}

float element_to_float(ElementCode element) {
    if (element.element == Element::e2m1)
        return __half2float(__half(__nv_cvt_fp4_to_halfraw(element.code, __NV_E2M1)));
    if (!is_fp8(element.element))
        return __half2float(
            __half(__nv_cvt_fp6_to_halfraw(element.code, fp6_name(element.element))));
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(element.code, fp8_name(element.element))));
}

float e8m0_to_float(std::uint8_t scale) {
    return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(scale)));
}

const char* header_version() {
    return "CUDART_VERSION " MX_TEXT_OF(CUDART_VERSION);
}

}  // namespace mx::nvhost
