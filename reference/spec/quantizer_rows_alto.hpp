// Rows of the quantizer table: AMD's ALTO, FP4 under E4M3 scales as NVFP4 has them and under UE5M3
// scales ("AMD-FP4"), with a number for the tensor or without. Every row names every field. See
// quantizer.hpp for what the values mean.
#pragma once

#include <array>

#include "reference/spec/quantizer.hpp"

namespace mx {

// Triton kernels: their maximum passes over NaN, which the reference of their tests does not.
// PyTorch finds the amax of the tensor, and one NaN makes the number of the tensor the least there
// is, so that every block has the largest scale. What a NaN that is divided looks like, and so its
// element, is the machine's matter.
inline constexpr std::array alto_rows{
    Quantizer{
        .name = "alto-nvfp4",
        .title = "ALTO NVFP4, number of the tensor found",
        .source = "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/nvfp4/nvfp_quantization.py, "
                  "alto/kernels/fp4/fp4_common/triton_fp4_ops.py",
        .waits = "",
        .scale_type = ScaleType::e4m3,
        .formats = formats_named({"nvfp4", "nvfp4-16x16"}),
        .inputs = input_f32 | input_bf16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::own_lane_only_in_blocks,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::decode_from_1em30,
        .scale_max = 448,
        .scale_ratio = ScaleRatio::over_tensor_divided,
        .ratio_min = 0x3C800000,  // 2^-6
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::nearest,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::divided_by_product,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::as_number,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale_tensor,
        .nan_value = NanValue::any,
        .open = Decision::nan_in_block | Decision::nan_code,
    },
    Quantizer{
        .name = "alto-nvfp4-block",
        .title = "ALTO NVFP4, block scales alone",
        .source = "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/nvfp4/nvfp_quantization.py, "
                  "alto/kernels/fp4/fp4_common/triton_fp4_ops.py",
        .waits = "",
        .scale_type = ScaleType::e4m3,
        .formats = formats_named({"nvfp4", "nvfp4-16x16"}),
        .inputs = input_f32 | input_bf16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::own_lane_only_in_blocks,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 448,
        .scale_ratio = ScaleRatio::divided,
        .ratio_min = 0x3C800000,  // 2^-6
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::nearest,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::divided,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::as_number,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = Decision::nan_in_block | Decision::nan_code,
    },
    Quantizer{
        .name = "alto-amdfp4",
        .title = "ALTO AMD-FP4, number of the tensor found",
        .source = "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/nvfp4/nvfp_quantization.py, "
                  "alto/kernels/fp4/fp4_common/triton_fp4_ops.py",
        .waits = "",
        .scale_type = ScaleType::ue5m3,
        .formats = formats_named({"fp4-ue5m3-1x16", "fp4-ue5m3-16x16"}),
        .inputs = input_f32 | input_bf16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::own_lane_only_in_blocks,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::decode_from_1em30,
        .scale_max = 114688,
        .scale_ratio = ScaleRatio::over_tensor_divided,
        .ratio_min = 0x37000000,  // 2^-17
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::nearest,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::divided_by_product,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::as_number,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale_tensor,
        .nan_value = NanValue::any,
        .open = Decision::nan_in_block | Decision::nan_code,
    },
    Quantizer{
        .name = "alto-amdfp4-block",
        .title = "ALTO AMD-FP4, block scales alone",
        .source = "AMD-AGI/ALTO@74e251d:alto/kernels/fp4/nvfp4/nvfp_quantization.py, "
                  "alto/kernels/fp4/fp4_common/triton_fp4_ops.py",
        .waits = "",
        .scale_type = ScaleType::ue5m3,
        .formats = formats_named({"fp4-ue5m3-1x16", "fp4-ue5m3-16x16"}),
        .inputs = input_f32 | input_bf16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::own_lane_only_in_blocks,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 114688,
        .scale_ratio = ScaleRatio::divided,
        .ratio_min = 0x37000000,  // 2^-17
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::nearest,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::divided,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::as_number,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = Decision::nan_in_block | Decision::nan_code,
    },
};

}  // namespace mx
