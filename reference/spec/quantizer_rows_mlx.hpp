// Rows of the quantizer table: what MLX makes of NVFP4. Its MX formats are among those of the other
// libraries. Every row names every field. See quantizer.hpp for what the values mean.
#pragma once

#include <array>

#include "reference/spec/quantizer.hpp"

namespace mx {

inline constexpr std::array mlx_rows{
    // On a CPU an element is the first of its sixteen values that none is nearer to in binary32: a
    // tie goes toward zero, a zero has no sign, and what is infinite or no number is 0, as is
    // everything under a scale of 0. Of quotients of 2^25 and more, which only a scale at its limit
    // leaves, several values are equally near.
    Quantizer{
        .name = "mlx-nvfp4",
        .title = "MLX nvfp4 without a global scale, on a CPU",
        .source = "ml-explore/mlx 0.32.4: mx.quantize on the CPU",
        .waits = "",
        .scale_type = ScaleType::e4m3,
        .formats = formats_named({"nvfp4"}),
        .inputs = input_f32,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::poisons_amax,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 448,
        .scale_ratio = ScaleRatio::divided,
        .ratio_min = 0,
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::nearest,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::divided_if_finite,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_toward_zero,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::zero,
        .sign_of_zero = SignOfZero::dropped,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = 0u | Decision::nan_in_block,
    },
};

}  // namespace mx
