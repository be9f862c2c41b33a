// From the accumulator of a dot product to the output of a GEMM: scales, alpha, C, bias, activation
// and the last rounding. Every step is one operation of binary32, rounded to nearest even. The
// order is that of cuBLASLt 13.1 on an H200, measured: arithmetic allows others, which give other
// bits.
#pragma once

#include <cstdint>

#include "reference/spec/formats.hpp"
#include "reference/spec/gemm_model.hpp"
#include "reference/spec/rounding.hpp"

namespace mx {

// Where scales of binary32 come in that belong to whole rows or tensors.
enum class FactorScales {
    none,
    in_alpha,        // alpha times that of B, times that of A: one of each for the tensor
    on_accumulator,  // the accumulator times that of B, times that of A: one for each row
    in_accumulator,  // there are none any more: those of blocks came in at promotion
};

// alpha * v + beta * C has three roundings to lose, and a fused multiply-add saves one: which, and
// whether a +0 is added where there is nothing else to add, depends on the kernel that does it.
enum class GemmKernel {
    one,         // the whole GEMM: fma(alpha, v, beta * C); without C fma(alpha, v, +0), which
                 // leaves no -0, and so the scale of an FP8 output. With scales of rows and
                 // blocks it is v itself where alpha is 1
    adds_parts,  // the parts of split-K, and what alpha was multiplied into before: fma(beta, C,
                 // alpha * v); products get nothing added, but for alpha * v a +0 where an
                 // activation comes after it
};

// Of a sum by a row, or exact (nullptr), with K in so many parts.
constexpr GemmKernel kernel_of(const GemmModel* row, std::int64_t parts) {
    const bool is_alpha_done = row != nullptr && row->alpha == AlphaPlace::factor_a;
    return parts > 1 || is_alpha_done ? GemmKernel::adds_parts : GemmKernel::one;
}

// ReLU makes +0 of whatever has a minus, -0 with it; seen on an H200 where alpha is 1 and the
// scales are those of rows, and where K is split. GELU of x is 0.5 * (x + x * t), one fused
// multiply-add and then the half, where t is tanh.approx (spec/tanh_approx.hpp) of x * (x *
// (gelu_cubic * x) + gelu_linear), every step rounded, the sum fused. Seen on an H200 with D of
// f32, bf16, f16 and E4M3: device/cublaslt/README.md says how. After adds_parts it is another
// formula: (0.5 * x) * (1 + t), t of (gelu_linear * x) * (gelu_parts_cubic * x * x + 1), the last
// two steps of the factor fused.
enum class Activation { none, relu, gelu };

// 0.79788458, the square root of 2 / pi; and 0.035677426, which is 5 units in the last place above
// 0.044715 times that.
inline constexpr Code gelu_linear{0x3F4C422A}, gelu_cubic{0x3D12227E};
// 0.044715 itself.
inline constexpr Code gelu_parts_cubic{0x3D372713};

struct GemmEpilogue {
    ElementFormat output = formats::f32;
    ElementFormat addend = formats::f32;  // of C
    ElementFormat bias = formats::bf16;
    FactorScales scales = FactorScales::none;
    GemmKernel kernel = GemmKernel::one;
    bool adds_bias = false;
    Activation activation = Activation::none;
    // By a scale of the whole tensor: FP8, and the binary32 numbers that NVFP4 blocks are made of.
    bool scales_output = false;
    // What lies beyond the output's range. FP8 saturates, as cuBLASLt has it.
    Overflow overflow_of_narrow = Overflow::saturate, overflow_of_wide = Overflow::overflow;

    MX_FOLDED constexpr Overflow overflow() const {
        return is_narrow() ? overflow_of_narrow : overflow_of_wide;
    }
    MX_FOLDED constexpr bool is_narrow() const { return output.code_bits() <= 8; }
    MX_FOLDED constexpr bool has_scales() const {
        return scales == FactorScales::in_alpha || scales == FactorScales::on_accumulator;
    }
    MX_FOLDED constexpr bool adds_zero_to_sum() const {
        return kernel == GemmKernel::one || activation != Activation::none;
    }
    // Where C is not read and alpha is 1.
    MX_FOLDED constexpr bool keeps_accumulator() const {
        return scales == FactorScales::on_accumulator || scales == FactorScales::in_accumulator;
    }
};

// The operands of one output. All but C and the bias are binary32. Where beta is 0, C is not read.
struct EpilogueOperands {
    Code alpha{0x3F800000};
    Code beta{};
    Code scale_a{0x3F800000};
    Code scale_b{0x3F800000};
    Code c{};
    Code bias{};
    Code scale_out{0x3F800000};
};

}  // namespace mx
