// The steps of spec/gemm_epilogue.hpp in integers; fit for a GPU.
// Proved by reference/proof/prove_gemm_epilogue.cpp.
#pragma once

#include "reference/fast/f32_arithmetic.hpp"
#include "reference/fast/tanh_approx.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx::fast {

// value * the scale of B * that of A.
MX_HOST_DEVICE constexpr Unpacked with_scales(const EpilogueOperands& operands,
                                              const Unpacked& value) {
    constexpr ElementFormat f32 = formats::f32;
    return product(product(value, unpack(f32, operands.scale_b)), unpack(f32, operands.scale_a));
}

// left * right, and a +0 where the kernel adds one.
MX_HOST_DEVICE constexpr Unpacked multiplied(const GemmEpilogue& epilogue, const Unpacked& left,
                                             const Unpacked& right) {
    return epilogue.kernel == GemmKernel::one ? fused_multiply_add(left, right, {})
                                              : product(left, right);
}

// alpha * accumulator + beta * C.
MX_HOST_DEVICE constexpr Unpacked combined(const GemmEpilogue& epilogue,
                                           const EpilogueOperands& operands,
                                           const Unpacked& accumulator) {
    constexpr ElementFormat f32 = formats::f32;
    Unpacked alpha = unpack(f32, operands.alpha);
    Unpacked value = accumulator;
    if (epilogue.scales == FactorScales::in_alpha) alpha = with_scales(operands, alpha);
    if (epilogue.scales == FactorScales::on_accumulator) value = with_scales(operands, value);
    const Unpacked beta = unpack(f32, operands.beta);
    if (is_zero(beta)) {
        const bool is_done = epilogue.keeps_accumulator() && operands.alpha.bits == 0x3F800000;
        return is_done ? value : multiplied(epilogue, alpha, value);
    }
    const Unpacked c = unpack(epilogue.addend, operands.c);
    return epilogue.kernel == GemmKernel::one ? fused_multiply_add(alpha, value, product(beta, c))
                                              : fused_multiply_add(beta, c, product(alpha, value));
}

MX_HOST_DEVICE constexpr Unpacked gelu(const Unpacked& x) {
    constexpr ElementFormat f32 = formats::f32;
    const Unpacked factor =
        fused_multiply_add(product(unpack(f32, gelu_cubic), x), x, unpack(f32, gelu_linear));
    const Unpacked tangent = tanh_approx(product(x, factor));
    return product(fused_multiply_add(x, tangent, x), {Kind::finite, false, -1, 1});
}

MX_HOST_DEVICE constexpr Unpacked activated(Activation activation, const Unpacked& value) {
    if (activation == Activation::gelu) return gelu(value);
    const bool is_below_zero = value.kind != Kind::nan && value.negative && !is_zero(value);
    return activation == Activation::relu && is_below_zero ? Unpacked{} : value;
}

// As exact::finish.
MX_HOST_DEVICE constexpr Code finish(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
                                     const Unpacked& accumulator) {
    constexpr ElementFormat f32 = formats::f32;
    Unpacked value = combined(epilogue, operands, accumulator);
    if (epilogue.adds_bias) value = sum(value, unpack(epilogue.bias, operands.bias));
    value = activated(epilogue.activation, value);
    if (!epilogue.is_narrow())
        return round(epilogue.output, Rounding::nearest_even, Overflow::overflow, value);
    if (epilogue.scales_output)
        value = multiplied(epilogue, value, unpack(f32, operands.scale_out));
    return round(epilogue.output, Rounding::nearest_even, Overflow::saturate, value);
}

}  // namespace mx::fast
