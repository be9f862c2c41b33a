// From the accumulator to an output: scales, alpha, C, bias, relu or GELU, and the last rounding,
// in binary32. Bugs of these are planted here.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "conformance/mutants/gemm/gemm_bug.hpp"
#include "conformance/mutants/gemm/gemm_gelu.hpp"
#include "conformance/mutants/gemm/gemm_request.hpp"
#include "conformance/mutants/mutant_elements.hpp"

namespace mx::mutants::gemm {

// Of one output. C is 0 where it is not read, and so is the bias.
struct Operands {
    float accumulator;
    float scale_a, scale_b;  // 1 where there are none for tensors
    float c;
    float bias;
    float scale_d = 1;  // of a D of NVFP4
};

inline float with_tensor_scales(const GemmRequest& request, const Operands& operands) {
    float alpha = std::bit_cast<float>(request.alpha);
    constexpr std::uint32_t one = 0x3F800000;
    if (has(Bug::alpha_lost_beside_whole_c) && request.reads_c && request.beta == one) alpha = 1;
    if (has(Bug::alpha_through_bf16))
        alpha = static_cast<float>(through_bf16(static_cast<double>(alpha)));
    if (request.scaling != Scaling::tensor) return alpha;
    const float scale_b = has(Bug::tensor_scale_forgotten) ? 1.0f : operands.scale_b;
    if (has(Bug::scales_multiplied_first)) return operands.scale_a * scale_b * alpha;
    return alpha * scale_b * operands.scale_a;
}

inline float relu(float x) {
    if (std::isnan(x)) return has(Bug::relu_loses_nan) ? 0.0f : x;
    return x <= 0 ? 0.0f : x;
}

inline float rounded_through(float x, const Format& format) {
    return static_cast<float>(decode(encode_value(static_cast<double>(x), format), format));
}

// alpha * accumulator + beta * C.
inline float combined(const GemmRequest& request, const Operands& operands) {
    const float alpha = with_tensor_scales(request, operands);
    float accumulator = operands.accumulator;
    if (has(Bug::rounded_before_alpha) && !quantizes_d(request))
        accumulator = rounded_through(accumulator, request.d.format);
    if (has(Bug::bias_before_alpha)) accumulator += operands.bias;
    const bool is_lost = has(Bug::single_row_without_c) && request.rows == 1;
    if (!request.reads_c || is_lost)
        return has(Bug::minus_zero_kept) ? alpha * accumulator : std::fma(alpha, accumulator, 0.0f);
    const float beta = std::bit_cast<float>(request.beta);
    float c = has(Bug::nan_of_c_lost) && std::isnan(operands.c) ? 0.0f : operands.c;
    if (has(Bug::c_through_bf16)) c = static_cast<float>(through_bf16(static_cast<double>(c)));
    if (has(Bug::alpha_on_c)) return alpha * (accumulator + beta * c);
    if (has(Bug::other_operand_fused)) return std::fma(beta, c, alpha * accumulator);
    float addend = beta * c;
    if (has(Bug::beta_c_through_bf16)) addend = rounded_through(addend, bf16);
    if (has(Bug::relu_before_c) && request.has_relu) return relu(alpha * accumulator) + addend;
    return std::fma(alpha, accumulator, addend);
}

// A number rounded to so many bits of mantissa, within the range of binary32.
inline double rounded_to(double value, int mantissa_bits) {
    return decode(
        encode_value(value, Format{32, mantissa_bits, -126, ((255u << mantissa_bits) - 1),
                                   255u << mantissa_bits}),
        Format{32, mantissa_bits, -126, ((255u << mantissa_bits) - 1), 255u << mantissa_bits});
}

inline std::uint32_t code_of(float x, const Format& format) {
    double value = static_cast<double>(x);
    const double smallest = std::ldexp(1.0, format.exponent_min);
    if (has(Bug::subnormal_results_flushed) && std::fabs(value) < smallest)
        value = std::copysign(0.0, value);
    if (has(Bug::bf16_rounded_twice) && format == bf16 && std::isfinite(value))
        value = rounded_to(value, 13);
    const std::uint32_t code = encode_value(value, format);
    const double written = decode(code, format);
    if (has(Bug::saturates) && std::isinf(written)) return code - 1;
    if (has(Bug::halves_truncated) && std::fabs(written) > std::fabs(value)) return code - 1;
    return code;
}

// What an output is before it is scaled and rounded to D, or made part of a block.
inline float unscaled_output(const GemmRequest& request, const Operands& operands) {
    float x = combined(request, operands);
    if (has(Bug::rounded_before_bias) && request.adds_bias && !quantizes_d(request))
        x = rounded_through(x, request.d.format);
    if (has(Bug::relu_before_bias) && request.has_relu && request.adds_bias)
        return relu(x) + operands.bias;
    if (has(Bug::gelu_before_bias) && request.has_gelu && request.adds_bias)
        return gelu(x) + operands.bias;
    if (request.adds_bias && !has(Bug::bias_before_alpha)) x += operands.bias;
    if (request.has_gelu) return gelu(x);
    const bool is_done = has(Bug::relu_before_c) && request.reads_c;
    return request.has_relu && !is_done ? relu(x) : x;
}

inline float number_of_output(const GemmRequest& request, const Operands& operands) {
    constexpr float largest_of_blocks = 6 * 448;
    float x = unscaled_output(request, operands);
    if (request.output != Output::nvfp4 || has(Bug::nvfp4_d_unscaled)) return x;
    if (has(Bug::nvfp4_d_scaled_late)) x = std::clamp(x, -largest_of_blocks, largest_of_blocks);
    const float scaled = std::fma(x, operands.scale_d, 0.0f);
    return has(Bug::nvfp4_d_scaled_twice) ? scaled * operands.scale_d : scaled;
}

}  // namespace mx::mutants::gemm
