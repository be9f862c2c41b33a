// Rows of the dialect table: NVIDIA's libraries and kernels written for its GPUs.
#pragma once

#include "reference/spec/dialect_rows_common.hpp"

namespace mx {

// CUDA 13.0 cuda_fp8.hpp: cvt.rp.satfinite.ue8m0x2 and its software form.
inline constexpr ScaleCast cuda_round_up{
    .rounding = ScaleRounding::toward_positive, .overflow = 0xFE, .infinity = 0xFE};

inline constexpr Dialect nv_row =
    new_row({"nv", "NVIDIA round-up: TransformerEngine generic kernels, CUDA header semantics",
             "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/util/ptx_arch_spec.cuh, "
             "cast/mxfp8/quantize_mxfp8.cuh; CUDA 13.0 cuda_fp8.h"},
            [](Dialect& row) {
                row.scale_ratio = ScaleRatio::times_reciprocal;
                row.scale_cast = cuda_round_up;
                row.nan_in_block = NanInBlock::own_lane_only;
            });

// NaN goes through a conversion to uint8, which makes 0 of it. PyTorch divides by a number on the
// CPU and multiplies by its reciprocal on a GPU; its log2 is rounded once on both. The elements are
// clamped, which keeps NaN, and cast by PyTorch.
inline constexpr Dialect model_optimizer_row = new_row(
    {"model-optimizer", "NVIDIA Model-Optimizer MXFP8 on the CPU: ceil(log2(amax / 448))",
     "NVIDIA/Model-Optimizer@a8d544b:modelopt/torch/quantization/qtensor/mxfp8_tensor.py; "
     "PyTorch 2.11 measured"},
    [](Dialect& row) {
        row.formats = e4m3_format;
        row.inputs = input_f32;
        row.scale_ratio = ScaleRatio::divided;
        row.scale_cast = {
            .rounding = ScaleRounding::ceil_log2f, .overflow = 0xFE, .infinity = 0xFE, .nan = 0x00};
        row.nan_code = NanCode::sign_kept;
        row.open = 0u | Decision::nan_code;
    });

// Triton's `/` is div.full.f32, which for every amax and every largest element, measured on sm_90,
// is the product with fl32(1 / max). tl.max passes over NaN unless there is nothing else. A byte is
// the exponent field of a binary32 scale whose inverse multiplies: 1 / Inf is 0.
inline constexpr Dialect triton_row =
    row_like(nv_row,
             {"megatron-round-up", "Megatron-core MXFP8 inference, triton_kernels ROUND_UP",
              "NVIDIA/Megatron-LM@02dbe67:megatron/core/inference/quantization/mxfp8_quantize.py; "
              "div.full.f32 and Triton 3.6 measured on sm_90"},
             [](Dialect& row) {
                 row.formats = mxfp8_formats;
                 row.scale_cast = {.rounding = ScaleRounding::toward_positive,
                                   .underflow = ScaleUnderflow::any_bit_counts,
                                   .nan = 0x00};
                 row.inverse = Inverse::of_scale_bits;
                 row.nan_in_block = NanInBlock::own_lane_unless_all;
             });

inline constexpr std::array nvidia_rows{
    nv_row,
    // fma(x, scale, +0) makes +0 of -0. What a NaN does to the amax of a column depends on the
    // architecture, so it is open; along rows it is ignored.
    row_like(nv_row,
             {"te-specialised", "TransformerEngine cast-only MXFP8 kernels for bf16 and fp16",
              "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/mxfp8/specialized/"
              "quantize_mxfp8.cuh, util/ptx.cuh"},
             [](Dialect& row) {
                 row.formats = mxfp8_formats;
                 row.inputs = input_bf16 | input_f16;
                 row.sign_of_zero = SignOfZero::input_dropped;
                 row.open = 0u | Decision::nan_in_block;
             }),
    // min((bits + 0x7FFFFF) >> 23, 254); a NaN amax wraps round to byte 0.
    row_like(
        nv_row,
        {"te-cutedsl", "TransformerEngine CuTe DSL, the software form below sm_100",
         "NVIDIA/TransformerEngine@d0067d0:transformer_engine, CuTe DSL float_to_e8m0 fallback"},
        [](Dialect& row) {
            row.formats = mxfp8_formats;
            row.scale_cast.underflow = ScaleUnderflow::any_bit_counts;
            row.scale_cast.nan = 0x00;
            row.nan_in_block = NanInBlock::poisons_amax;
            row.open = Decision::nan_in_block | Decision::sign_of_zero;
        }),
    // The document names a formula and no more; vals / scale.
    row_like(nv_row,
             {"cudnn", "cuDNN block scaling: round up amax / vmax",
              "NVIDIA/cudnn-frontend@451fd4e:docs/operations/BlockScaling.md"},
             [](Dialect& row) {
                 row.formats = mxfp8_formats;
                 row.scale_ratio = ScaleRatio::divided;
                 row.open = all_but_the_formula;
             }),
    // D_OUT_SCALE: S = fl32(amax / max), its exponent rounded up to 254 at most; d * fl32(1 /
    // scale). The bits are those of the row above, and d is a binary32 number: D rounded once
    // before.
    row_like(nv_row,
             {"cublaslt", "cuBLASLt MXFP8 output scales, as documented; predicted, not run yet",
              "cuBLAS 13.1 documentation, section 3.1.4.4.1"},
             [](Dialect& row) {
                 row.formats = mxfp8_formats;
                 row.inputs = input_f32;
                 row.scale_ratio = ScaleRatio::divided;
                 row.open = all_but_the_formula;
             }),
    // Its build flags flush subnormals: of an input, of the ratio, and of the inverse of byte 254.
    // rcp.approx.ftz(448), measured on sm_90, is fl32(1 / 448), and exact for powers of two.
    row_like(nv_row,
             {"flashinfer", "FlashInfer and TensorRT-LLM MXFP8 quantization, -use_fast_math",
              "flashinfer-ai/flashinfer@fb28d72:quantization_utils.cuh, "
              "@01a02aa:flashinfer/jit/core.py; measured on sm_90"},
             [](Dialect& row) {
                 row.formats = e4m3_format;
                 row.inputs = input_bf16;
                 row.scale_ratio = ScaleRatio::times_reciprocal_flushed;
                 row.inverse = Inverse::zero_at_both_ends;
                 row.subnormals = Subnormals::inputs_flushed;
                 row.nan_code = NanCode::largest;
                 row.open = 0u | Decision::nan_code;
             }),
    row_like(nv_row,
             {"flashinfer-cute", "FlashInfer CuTe DSL MXFP8 quantization, fast path",
              "flashinfer-ai/flashinfer@fb28d72, CuTe DSL quantization kernels"},
             [](Dialect& row) {
                 row.formats = e4m3_format;
                 row.inputs = input_bf16 | input_f16;
                 row.scale_cast.nan = 0xFE;
                 row.scale_cast.negative = NegativeScale::zero_byte;
                 row.inverse = Inverse::zero_at_both_ends;
                 row.nan_in_block = NanInBlock::poisons_amax;
                 row.nan_code = NanCode::largest;
                 row.open = all_but_the_formula;
             }),
    triton_row,
    row_like(triton_row,
             {"triton-round-down", "triton_kernels ROUND_DOWN: the exponent field of amax / max",
              triton_row.source},
             [](Dialect& row) { row.scale_cast = {.rounding = ScaleRounding::toward_zero}; }),
    // amax in bf16, times 0.002232142857f, which is fl32(1 / 448); then at least 1e-12f.
    row_like(nv_row,
             {"thunderkittens", "ThunderKittens MXFP8 quantization kernel",
              "HazyResearch/ThunderKittens@06c7754:kernels/gemm/mxfp8_b200/mxfp8_b200_gemm.cu"},
             [](Dialect& row) {
                 row.formats = e4m3_format;
                 row.inputs = input_bf16;
                 row.ratio_min = 0x2B8CBCCC;
             }),
    model_optimizer_row,
    // There exp2(-127) is 0x003FFFFF, so ties under byte 254, which only Inf leads to, go down.
    row_like(model_optimizer_row,
             {"model-optimizer-cuda", "NVIDIA Model-Optimizer MXFP8 on a GPU",
              model_optimizer_row.source},
             [](Dialect& row) {
                 row.scale_ratio = ScaleRatio::times_reciprocal;
                 row.open = Decision::nan_code | Decision::infinity_in_block;
             }),
};

}  // namespace mx
