// See gemm_epilogue.hpp.
#include "reference/exact/gemm_epilogue.hpp"

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/exact/tanh_approx.hpp"

namespace mx::exact {
namespace {

Value fused_multiply_add(const Value& left, const Value& right, const Value& addend) {
    return rounded_in(formats::f32, plus(times(left, right), addend));
}

// left * right, and a +0 where the kernel adds one.
Value multiplied(const GemmEpilogue& epilogue, const Value& left, const Value& right) {
    return epilogue.kernel == GemmKernel::one ? fused_multiply_add(left, right, number(0))
                                              : product(left, right);
}

// alpha * accumulator + beta * C.
Value combined(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
               const Value& accumulator) {
    const auto f32 = [](Code code) { return decode(formats::f32, code); };
    const auto with_scales = [&](const Value& value) {
        return product(product(value, f32(operands.scale_b)), f32(operands.scale_a));
    };
    Value alpha = f32(operands.alpha);
    Value value = accumulator;
    if (epilogue.scales == FactorScales::in_alpha) alpha = with_scales(alpha);
    if (epilogue.scales == FactorScales::on_accumulator) value = with_scales(value);
    const Value beta = f32(operands.beta);
    if (is_zero(beta)) {
        // Nothing at all is done here, so that a -0 stays one.
        const bool is_done = epilogue.keeps_accumulator() && operands.alpha == Code{0x3F800000};
        if (is_done) return value;
        return epilogue.adds_zero_to_sum() ? fused_multiply_add(alpha, value, number(0))
                                           : product(alpha, value);
    }
    const Value c = decode(epilogue.addend, operands.c);
    return epilogue.kernel == GemmKernel::one ? fused_multiply_add(alpha, value, product(beta, c))
                                              : fused_multiply_add(beta, c, product(alpha, value));
}

Value gelu_of_parts(const Value& x) {
    const Value factor =
        fused_multiply_add(product(f32_of_code(gelu_parts_cubic.bits), x), x, number(1));
    const Value tangent = tanh_approx(product(product(f32_of_code(gelu_linear.bits), x), factor));
    return product(product(number(Rational(1, 2)), x), sum(number(1), tangent));
}

Value gelu(GemmKernel kernel, const Value& x) {
    if (kernel == GemmKernel::adds_parts) return gelu_of_parts(x);
    const Value factor = fused_multiply_add(product(f32_of_code(gelu_cubic.bits), x), x,
                                            f32_of_code(gelu_linear.bits));
    const Value tangent = tanh_approx(product(x, factor));
    return product(number(Rational(1, 2)), fused_multiply_add(x, tangent, x));
}

}  // namespace

Code finish(const GemmEpilogue& epilogue, const EpilogueOperands& operands,
            const Value& accumulator) {
    Value value = combined(epilogue, operands, accumulator);
    if (epilogue.adds_bias) value = sum(value, decode(epilogue.bias, operands.bias));
    const bool is_cut = is_less(value, number(0)) || is_zero(value);
    if (epilogue.activation == Activation::relu && is_cut) value = number(0);
    if (epilogue.activation == Activation::gelu) value = gelu(epilogue.kernel, value);
    if (epilogue.scales_output)
        value = multiplied(epilogue, value, decode(formats::f32, operands.scale_out));
    return round(epilogue.output, Rounding::nearest_even, epilogue.overflow(), value);
}

}  // namespace mx::exact
