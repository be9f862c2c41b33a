// Rows of the dialect table: torchao and other quantizers written in PyTorch.
#pragma once

#include "reference/spec/dialect_rows_common.hpp"

namespace mx {

// A NaN among FP4 and FP6 elements is rounded as a number, and its payload comes from whatever
// processor multiplied it by the scale: the code is open.
constexpr Dialect torchao_row(std::string_view name, std::string_view title) {
    return new_row({name, title,
                    "pytorch/ao@36027d82d:torchao/prototype/mx_formats/mx_tensor.py, "
                    "torchao/csrc/cuda/mx_kernels/mxfp8_quantize.cuh"},
                   [](Dialect& row) {
                       row.formats = mxfp_formats;
                       row.inputs = input_f32 | input_bf16;
                       row.nan_code = NanCode::as_number;
                       row.open = 0u | Decision::nan_code;
                   });
}

constexpr Dialect torchao_ceil_row() {
    Dialect row = torchao_row("torchao-ceil", "torchao ScaleCalculationMode.CEIL");
    row.scale_cast = {.rounding = ScaleRounding::toward_positive};
    return row;
}

constexpr Dialect torchao_even_row() {
    Dialect row = torchao_row("torchao-even", "torchao ScaleCalculationMode.EVEN");
    row.amax_rounding = AmaxRounding::nearest_away;
    return row;
}

constexpr Dialect torchao_rceil_row() {
    Dialect row = torchao_row("torchao-rceil", "torchao ScaleCalculationMode.RCEIL");
    row.scale_ratio = ScaleRatio::times_reciprocal;
    row.scale_cast = {.rounding = ScaleRounding::toward_positive};
    return row;
}

// Before pytorch/ao #4725 of August 2026: ceil(log2(amax / max)). PyTorch's log2, measured with
// 2.11, is rounded once; it divides by a number on the CPU and multiplies by its reciprocal on a
// GPU.
constexpr Dialect torchao_rceil_legacy_row(std::string_view name, ScaleRatio ratio) {
    Dialect row = torchao_row(name, "torchao RCEIL of March 2025 to August 2026");
    row.scale_ratio = ratio;
    row.scale_cast = {.rounding = ScaleRounding::ceil_log2f, .overflow = 0xFE, .infinity = 0xFE};
    row.inverse = Inverse::one_for_byte_zero;
    return row;
}

// torchao 0.18.0, asked, divides by the scale's bits as binary32: the numbers of a block with NaN
// are divided by infinity.
constexpr Dialect torchao_floor_legacy_row() {
    Dialect row = torchao_row("torchao-floor-legacy", "torchao FLOOR before August 2026");
    row.infinity_in_block = InfinityInBlock::counts_as_2to128;
    row.inverse = Inverse::over_scale_bits;
    return row;
}

inline constexpr std::array torchao_rows{
    torchao_row("torchao-floor", "torchao ScaleCalculationMode.FLOOR"),
    torchao_ceil_row(),
    torchao_even_row(),
    torchao_rceil_row(),
    torchao_rceil_legacy_row("torchao-rceil-legacy", ScaleRatio::divided),
    torchao_rceil_legacy_row("torchao-rceil-legacy-cuda", ScaleRatio::times_reciprocal),
    torchao_floor_legacy_row(),
};

// amax at least 1e-4f; the exponent field rounded up and kept within 1 to 254, NaN and Inf too.
inline constexpr Dialect deepgemm_row =
    new_row({"deepgemm", "DeepGEMM per_token_cast_to_fp8 with ue8m0 scales",
             "deepseek-ai/DeepGEMM@38939a4:deep_gemm/utils/math.py"},
            [](Dialect& row) {
                row.formats = e4m3_format;
                row.amax_min = 0x38D1B717;
                row.scale_ratio = ScaleRatio::divided;
                row.scale_cast = {.rounding = ScaleRounding::toward_positive,
                                  .byte_min = 0x01,
                                  .overflow = 0xFE,
                                  .infinity = 0xFE,
                                  .nan = 0xFE,
                                  .zero = 0x01};
                row.element_overflow = Overflow::overflow;
                row.nan_code = NanCode::sign_kept;
            });

inline constexpr std::array torch_rows{
    deepgemm_row,
    // Elements by a search among the midpoints that takes a midpoint down, and no -0.
    row_like(deepgemm_row,
             {"deepgemm-fp4", "DeepGEMM per_token_cast_to_fp4 with ue8m0 scales",
              "deepseek-ai/DeepGEMM@38939a4:deep_gemm/utils/math.py"},
             [](Dialect& row) {
                 row.formats = e2m1_format;
                 row.element_rounding = Rounding::nearest_toward_zero;
                 row.element_overflow = Overflow::saturate;
                 row.nan_code = NanCode::largest;
                 row.sign_of_zero = SignOfZero::dropped;
             }),
    // One mantissa bit whatever the format; what is below or beyond a byte is left to a later
    // conversion.
    new_row({"compressed-tensors", "vLLM compressed-tensors generate_mx_scales",
             "vllm-project/compressed-tensors@4b993cb:src/compressed_tensors/quantization/utils/"
             "mxfp_utils.py"},
            [](Dialect& row) {
                row.formats = e4m3_format | e2m1_format;
                row.inputs = input_f32 | input_bf16;
                row.amax_rounding = AmaxRounding::one_bit_away;
                row.open = all_but_the_formula;
            }),
};

}  // namespace mx
