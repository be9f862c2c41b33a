// Rows of the dialect table: AMD's libraries, and a bug that was met on its GPUs.
#pragma once

#include "reference/spec/dialect_rows_common.hpp"

namespace mx {

// The scale is a binary32 number whose mantissa is zero, so byte 0 stands for 0.0; what the
// conversion instruction makes of that scale is not known.
inline constexpr Dialect aiter_row =
    new_row({"aiter-rounddown", "ROCm aiter MxScaleRoundMode RoundDown",
             "ROCm/aiter@e404860:csrc/include/mx_quant_utils.h, aiter/utility/fp4_utils.py"},
            [](Dialect& row) {
                row.formats = e4m3_format | e2m1_format;
                row.scale_ratio = ScaleRatio::over_emax_f32;
                row.inverse = Inverse::zero_for_byte_zero;
                row.open = Decision::nan_code | Decision::scale_underflow;
            });

constexpr RowTexts aiter_texts(std::string_view name, std::string_view title) {
    return {name, title, aiter_row.source};
}

inline constexpr std::array amd_rows{
    // A NaN amax stays NaN; Inf is clamped to 2^127.
    new_row({"quark-even", "AMD Quark even_round",
             "amd/Quark@1d27b55:quark/torch/quantization/utils.py"},
            [](Dialect& row) {
                row.formats = mxfp_formats;
                row.inputs = input_f32 | input_bf16;
                row.amax_rounding = AmaxRounding::nearest_away;
                row.scale_cast = {
                    .rounding = ScaleRounding::toward_zero, .overflow = 0xFE, .infinity = 0xFE};
                row.zero_block = ZeroBlock::as_2tom126;
                row.open = Decision::sign_of_zero | Decision::nan_code;
            }),
    row_like(aiter_row, aiter_texts("aiter-roundup", "ROCm aiter MxScaleRoundMode RoundUp"),
             [](Dialect& row) {
                 row.scale_ratio = ScaleRatio::times_reciprocal;
                 row.scale_cast = {.rounding = ScaleRounding::toward_positive,
                                   .underflow = ScaleUnderflow::any_bit_counts};
                 row.open = 0u | Decision::nan_code;
             }),
    aiter_row,
    // The integer form read at 0b3d716 takes emax off the exponent field of NaN and Inf too, which
    // gives 0xF7 for E4M3; the facts of e404860 say 0xFF. Hence these are open.
    row_like(aiter_row, aiter_texts("aiter-even", "ROCm aiter MxScaleRoundMode Even"),
             [](Dialect& row) {
                 row.amax_rounding = AmaxRounding::nearest_away;
                 row.scale_ratio = ScaleRatio::over_emax;
                 row.open = row.open | Decision::nan_in_block | Decision::infinity_in_block;
             }),
    row_like(aiter_row, aiter_texts("aiter-ceil", "ROCm aiter MxScaleRoundMode Ceil"),
             [](Dialect& row) {
                 row.scale_cast = {.rounding = ScaleRounding::toward_positive,
                                   .underflow = ScaleUnderflow::any_bit_counts};
             }),
    // A bug, kept as a row so that a device that has it is named: emax was forgotten.
    new_row({"vllm-rocm-53110", "vLLM on ROCm before #53110: floor(log2(amax)) without emax",
             "vllm-project/vllm#53110"},
            [](Dialect& row) {
                row.formats = e4m3_format;
                row.scale_ratio = ScaleRatio::none;
                row.open = all_but_the_formula;
            }),
};

}  // namespace mx
