// microxcaling's CUDA code on the host: the functions of mx/cpp that its kernels call for a block
// and an element, compiled for a CPU. What its Python does before, the amax of a block, in which
// PyTorch's maximum passes a NaN on, is done here, and a value becomes its code.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#define __host__
#define __device__
#define __forceinline__ inline
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
inline const char* cudaGetErrorString(cudaError_t) {
    return "";
}
namespace at {
struct BFloat16 {
    operator float() const { return 0; }
};
struct Half {
    operator float() const { return 0; }
};
}  // namespace at
namespace torch {
struct Tensor {
    long dim() const { return 0; }
    const long* sizes() const { return nullptr; }
};
}  // namespace torch
#include <quantize.cuh>
#include <shared_exp.cuh>

#include "device/peers/native.hpp"

using namespace mx::peers;

struct Element {
    int exponent_bits, mantissa_bits, bias;
    float largest;
    constexpr bool is_integer() const { return exponent_bits == 0; }
    constexpr int bits() const { return is_integer() ? 8 : mantissa_bits + 2; }
};

// Of a value of the format; NaN is all ones.
static std::uint32_t code_of(const Element& element, float value) {
    if (element.is_integer()) return static_cast<std::uint8_t>(static_cast<int>(value * 64));
    const std::uint32_t sign = std::signbit(value) ? 1u : 0u;
    const std::uint32_t one = 1u << element.mantissa_bits;
    std::uint32_t code = (one << element.exponent_bits) - 1;
    if (!std::isnan(value)) {
        int exponent = 0;
        std::frexp(value, &exponent);
        exponent = value == 0 ? 1 - element.bias : std::max(exponent - 1, 1 - element.bias);
        code = static_cast<std::uint32_t>(
            std::ldexp(std::fabs(value), element.mantissa_bits - exponent));
        if (code >= one) code += one * static_cast<std::uint32_t>(exponent + element.bias - 1);
    }
    return sign << (element.exponent_bits + element.mantissa_bits) | code;
}

static float scale_of(const Element& element, float amax) {
    return mx_get_shared_scale(get_biased_exponent(amax), 8, element.largest);
}

template <const Element& element>
static std::uint32_t byte_of(float amax) {
    return std::bit_cast<std::uint32_t>(scale_of(element, amax)) >> 23 & 0xFF;
}

template <const Element& element>
static Answer quantized(const float* lanes) {
    float amax = 0;
    for (int i = 0; i < 32; ++i)
        amax = std::isnan(lanes[i]) || std::isnan(amax) ? std::numeric_limits<float>::quiet_NaN()
                                                        : std::max(amax, std::fabs(lanes[i]));
    const float scale = scale_of(element, amax);
    Answer answer{byte_of<element>(amax), {}};
    for (int i = 0; i < 32; ++i)
        answer.elements[i] = code_of(
            element, quantize_elemwise(lanes[i] / scale, element.bits(), element.exponent_bits,
                                       element.largest, rd_away, true, true));
    return answer;
}

constexpr Element e4m3{4, 3, 7, 448}, e5m2{5, 2, 15, 57344}, e3m2{3, 2, 3, 28}, e2m3{2, 3, 1, 7.5},
    e2m1{2, 1, 1, 6}, int8{0, 7, 0, 127.0f / 64};
constexpr Scale scales[] = {
    {"mxfp8-e4m3", "microxcaling-cuda", byte_of<e4m3>},
    {"mxfp8-e5m2", "microxcaling-cuda", byte_of<e5m2>},
    {"mxfp6-e3m2", "microxcaling-cuda", byte_of<e3m2>},
    {"mxfp6-e2m3", "microxcaling-cuda", byte_of<e2m3>},
    {"mxfp4-e2m1", "microxcaling-cuda", byte_of<e2m1>},
    {"mxint8-symmetric", "microxcaling-cuda", byte_of<int8>},
};
constexpr Quantize quantizers[] = {
    {"mxfp8-e4m3", "e4m3", "microxcaling-cuda", quantized<e4m3>},
    {"mxfp8-e5m2", "e5m2", "microxcaling-cuda", quantized<e5m2>},
    {"mxfp6-e3m2", "e3m2", "microxcaling-cuda", quantized<e3m2>},
    {"mxfp6-e2m3", "e2m3", "microxcaling-cuda", quantized<e2m3>},
    {"mxfp4-e2m1", "e2m1", "microxcaling-cuda", quantized<e2m1>},
    {"mxint8-symmetric", "int8-symmetric", "microxcaling-cuda", quantized<int8>},
};
constexpr Library library{
    "microxcaling's CUDA code on the host", "Microsoft", {}, scales, quantizers};
MX_PEER(library)
