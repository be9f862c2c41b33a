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
        if (is_done) return value;
        return epilogue.adds_zero_to_sum() ? fused_multiply_add(alpha, value, {})
                                           : product(alpha, value);
    }
    const Unpacked c = unpack(epilogue.addend, operands.c);
    return epilogue.kernel == GemmKernel::one ? fused_multiply_add(alpha, value, product(beta, c))
                                              : fused_multiply_add(beta, c, product(alpha, value));
}

// After split-K.
MX_HOST_DEVICE constexpr Unpacked gelu_of_parts(const Unpacked& x) {
    constexpr ElementFormat f32 = formats::f32;
    constexpr Unpacked one{Kind::finite, false, 0, 1}, half{Kind::finite, false, -1, 1};
    const Unpacked factor = fused_multiply_add(product(unpack(f32, gelu_parts_cubic), x), x, one);
    const Unpacked tangent = tanh_approx(product(product(unpack(f32, gelu_linear), x), factor));
    return product(product(half, x), sum(one, tangent));
}

MX_HOST_DEVICE constexpr Unpacked gelu(GemmKernel kernel, const Unpacked& x) {
    constexpr ElementFormat f32 = formats::f32;
    if (kernel == GemmKernel::adds_parts) return gelu_of_parts(x);
    const Unpacked factor =
        fused_multiply_add(product(unpack(f32, gelu_cubic), x), x, unpack(f32, gelu_linear));
    const Unpacked tangent = tanh_approx(product(x, factor));
    return product(fused_multiply_add(x, tangent, x), {Kind::finite, false, -1, 1});
}

MX_HOST_DEVICE constexpr Unpacked activated(const GemmEpilogue& epilogue, const Unpacked& value) {
    if (epilogue.activation == Activation::gelu) return gelu(epilogue.kernel, value);
    const bool is_cut = value.kind != Kind::nan && value.negative;
    return epilogue.activation == Activation::relu && is_cut ? Unpacked{} : value;
}

// As exact::finish.
MX_HOST_DEVICE constexpr Code finish(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
                                     const Unpacked& accumulator) {
    constexpr ElementFormat f32 = formats::f32;
    Unpacked value = combined(epilogue, operands, accumulator);
    if (epilogue.adds_bias) value = sum(value, unpack(epilogue.bias, operands.bias));
    value = activated(epilogue, value);
    if (epilogue.scales_output)
        value = multiplied(epilogue, value, unpack(f32, operands.scale_out));
    return round(epilogue.output, Rounding::nearest_even, epilogue.overflow(), value);
}

}  // namespace mx::fast
