// Row of the quantizer table: the standard itself.
// Every row names every field, and none is made from another: to mend one library changes no
// other. See quantizer.hpp for what the values mean.
#pragma once

#include <array>

#include "reference/spec/quantizer.hpp"

namespace mx {

inline constexpr std::array ocp_rows{
    // Where the text is silent the fields hold our choice and `open` says so: a NaN or Inf makes
    // max|V| NaN or Inf, which no E8M0 value but NaN can stand for. Two more choices are binding
    // here: the scale rule, which the section words as "should", for a device that uses another
    // rule has another row; and V/X, of which it names no precision, as an exact quotient.
    Quantizer{
        .name = "ocp",
        .title = "OCP Microscaling v1.0, section 6.3",
        .source = "OCP MX v1.0 section 6.3 (scale, elements), 5.1 (scale NaN), 5.3 (elements)",
        .waits = "",
        .scale_type = ScaleType::e8m0,
        .formats = formats_named({"mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2", "mxfp6-e2m3",
                                  "mxfp4-e2m1", "mxint8", "mxint8-symmetric"}),
        .inputs = input_f32 | input_bf16 | input_f16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::poisons_amax,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 0,
        .scale_ratio = ScaleRatio::over_emax,
        .ratio_min = 0,
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::e8m0_cast,
        .scale_cast = {.rounding = ScaleRounding::toward_zero,
                       .underflow = ScaleUnderflow::clamp,
                       .byte_min = 0x00,
                       .byte_max = 0xFE,
                       .overflow = 0xFF,
                       .infinity = 0xFF,
                       .nan = 0xFF,
                       .zero = 0x00,
                       .negative = NegativeScale::magnitude},
        .candidate_error = CandidateError::none,
        .inverse = Inverse::exact_power,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::positive_all_ones,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = Decision::nan_in_block | Decision::infinity_in_block | Decision::zero_block |
                Decision::scale_underflow | Decision::sign_of_zero | Decision::nan_code |
                Decision::value_beyond_f32,
    },
};

}  // namespace mx
