// Rows of the dialect table: research emulators and numeric libraries, and the casts to E8M0 that
// libraries offer without a block quantizer.
#pragma once

#include "reference/spec/dialect_rows_common.hpp"
#include "reference/spec/dialect_rows_nvidia.hpp"

namespace mx {

// Its `nearest` is half away from zero; a power of two above 127 is NaN. log2 is taken as rounded
// once: it is wrong just below powers of two. sign(x) * floor(...) makes +0 of -0.
inline constexpr Dialect microxcaling_row =
    new_row({"microxcaling", "microxcaling in Python, round = nearest",
             "microsoft/microxcaling@7bc4195:mx/mx_ops.py, mx/elemwise_ops.py, mx/formats.py"},
            [](Dialect& row) {
                row.formats = mxfp_formats | formats_named("mxint8-symmetric");
                row.inputs = input_f32;
                row.amax_rounding = AmaxRounding::whole_log2f;
                row.zero_block = ZeroBlock::as_2tom126;
                row.element_rounding = Rounding::nearest_away;
                row.sign_of_zero = SignOfZero::input_dropped;
                row.open = Decision::sign_of_zero | Decision::nan_code;
            });

// MX4 blocks whose exponent is kept within -127 to 125; NaN and Inf have the largest. tl.max and
// tl.log2 as measured with Triton 3.6 on sm_90.
inline constexpr Dialect fbgemm_row =
    new_row({"fbgemm-floor", "FBGEMM MX4, RoundingMode.floor",
             "pytorch/FBGEMM@036aa0d:fbgemm_gpu/fbgemm_gpu/triton/quantize.py"},
            [](Dialect& row) {
                row.formats = e2m1_format;
                row.inputs = input_f32;
                row.scale_cast = {.rounding = ScaleRounding::toward_zero,
                                  .byte_max = 0xFC,
                                  .overflow = 0xFC,
                                  .infinity = 0xFC,
                                  .nan = 0xFC};
                row.zero_block = ZeroBlock::as_2tom126;
                row.element_rounding = Rounding::nearest_away;
                row.nan_in_block = NanInBlock::own_lane_unless_all;
                row.nan_code = NanCode::sign_kept;
                row.open = 0u | Decision::scale_underflow;
            });

constexpr RowTexts fbgemm_texts(std::string_view name, std::string_view title) {
    return {name, title, fbgemm_row.source};
}

inline constexpr std::array library_rows{
    microxcaling_row,
    row_like(microxcaling_row,
             {"microxcaling-cuda", "microxcaling's CUDA kernels, rd_away",
              "microsoft/microxcaling@7bc4195:mx/cpp/shared_exp.cuh, mx/cpp/quantize.cuh"},
             [](Dialect& row) {
                 row.amax_rounding = AmaxRounding::none;
                 row.zero_block = ZeroBlock::as_cast;
                 row.sign_of_zero = SignOfZero::dropped;
                 row.open = 0u | Decision::nan_code;
             }),
    // FP4 and FP6 refuse a NaN with an error.
    new_row({"gfloat", "gfloat quantize_block with compute_scale_amax",
             "graphcore-research/gfloat@b142762:src/gfloat/block.py, round.py, formats.py"},
            [](Dialect& row) {
                row.formats =
                    mxfp_formats | (formats_named("mxint8") ^ formats_named("mxint8-symmetric"));
                row.scale_cast = {
                    .rounding = ScaleRounding::toward_zero, .overflow = 0xFE, .infinity = 0xFE};
                row.open = 0u | Decision::nan_code;
            }),
    fbgemm_row,
    row_like(fbgemm_row, fbgemm_texts("fbgemm-even", "FBGEMM MX4, RoundingMode.even"),
             [](Dialect& row) { row.amax_rounding = AmaxRounding::nearest_toward_zero; }),
    row_like(fbgemm_row, fbgemm_texts("fbgemm-nearest", "FBGEMM MX4, RoundingMode.nearest"),
             [](Dialect& row) {
                 row.waits = "a rule for log2(amax) + 1/2, which is rounded to binary32 twice";
                 row.scale_cast.rounding = ScaleRounding::nearest_log2;
             }),
    row_like(fbgemm_row, fbgemm_texts("fbgemm-ceil", "FBGEMM MX4, RoundingMode.ceil"),
             [](Dialect& row) {
                 row.amax_rounding = AmaxRounding::whole_log2f;
                 row.scale_cast.rounding = ScaleRounding::toward_positive;
             }),
    // An infinite amax is converted to int, which C++ does not define; below 2^(emax - 127) the
    // elements are divided by a power of two that the byte does not hold.
    new_row(
        {"universal", "Universal mxblock::quantize",
         "stillwater-sc/universal@297b88d:include/sw/universal/number/mxfloat/mxblock_impl.hpp"},
        [](Dialect& row) {
            row.formats = mxfp_formats;
            row.inputs = input_f32;
            row.amax_rounding = AmaxRounding::whole_log2f;
            row.zero_block = ZeroBlock::one_over_emax;
            row.nan_in_block = NanInBlock::own_lane_only;
            row.infinity_in_block = InfinityInBlock::own_lane_only;
            row.open = Decision::infinity_in_block | Decision::scale_underflow |
                       Decision::sign_of_zero | Decision::nan_code;
        }),
    new_row({"onednn", "oneDNN dynamic_mx: the exponents of amax and of the largest element",
             "uxlfoundation/oneDNN@95d0268:src/common/float8.cpp"},
            [](Dialect& row) {
                row.formats = mxfp8_formats;
                row.inputs = input_f32;
                row.open = Decision::zero_block | Decision::scale_underflow |
                           Decision::sign_of_zero | Decision::nan_code;
            }),
};

inline constexpr std::array cast_rows{
    cast_row({"cuda-e8m0-rp-satfinite", "CUDA __nv_fp8_e8m0(float): round up, saturating",
              "CUDA 13.0 cuda_fp8.hpp __nv_cvt_float_to_e8m0"},
             cuda_round_up),
    cast_row({"cuda-e8m0-rp", "CUDA e8m0 conversion: round up, not saturating",
              "CUDA 13.0 cuda_fp8.hpp __nv_cvt_float_to_e8m0"},
             {.rounding = ScaleRounding::toward_positive}),
    cast_row({"cuda-e8m0-rz-satfinite", "CUDA e8m0 conversion: toward zero, saturating",
              "CUDA 13.0 cuda_fp8.hpp __nv_cvt_float_to_e8m0"},
             {.rounding = ScaleRounding::toward_zero, .overflow = 0xFE, .infinity = 0xFE}),
    cast_row({"cuda-e8m0-rz", "CUDA e8m0 conversion: toward zero, not saturating",
              "CUDA 13.0 cuda_fp8.hpp __nv_cvt_float_to_e8m0"},
             {.rounding = ScaleRounding::toward_zero}),
    cast_row({"cutlass-host", "CUTLASS float_ue8m0_t on the host",
              "NVIDIA/cutlass@7107b05:include/cutlass/float8.h"},
             {.rounding = ScaleRounding::toward_positive, .overflow = 0xFE}),
    cast_row({"pytorch-e8m0", "PyTorch cast to float8_e8m0fnu",
              "pytorch/pytorch:torch/headeronly/util/Float8_e8m0fnu.h (PyTorch 2.11)"},
             {.rounding = ScaleRounding::nearest_away, .underflow = ScaleUnderflow::above_2tom127}),
    cast_row({"onnx-up", "ONNX Cast-24 to float8e8m0, round_mode up, saturate",
              "onnx/onnx@f754691:onnx/numpy_helper.py"},
             {.rounding = ScaleRounding::toward_positive,
              .underflow = ScaleUnderflow::any_bit_counts,
              .overflow = 0xFE}),
    cast_row({"onnx-nearest", "ONNX Cast-24 to float8e8m0, round_mode nearest, saturate",
              "onnx/onnx@f754691:onnx/numpy_helper.py"},
             {.rounding = ScaleRounding::nearest_away,
              .underflow = ScaleUnderflow::above_2tom127,
              .overflow = 0xFE}),
    cast_row({"ml_dtypes", "ml_dtypes cast to float8_e8m0fnu",
              "jax-ml/ml_dtypes@b793a6e:ml_dtypes/include/float8.h"},
             {.rounding = ScaleRounding::nearest_away,
              .underflow = ScaleUnderflow::above_2tom127,
              .zero = 0xFF,
              .negative = NegativeScale::nan_byte}),
    cast_row({"gfloat-e8m0", "gfloat round_float to e8m0, nearest even, saturating",
              "graphcore-research/gfloat@b142762:src/gfloat/round.py"},
             {.rounding = ScaleRounding::nearest_even, .overflow = 0xFE, .infinity = 0xFE}),
    cast_row({"universal-e8m0", "Universal e8m0 from float: the nearest logarithm",
              "stillwater-sc/universal@297b88d:include/sw/universal/number/e8m0"},
             {.rounding = ScaleRounding::nearest_log2,
              .overflow = 0xFE,
              .infinity = 0xFE,
              .negative = NegativeScale::zero_byte}),
};

}  // namespace mx
