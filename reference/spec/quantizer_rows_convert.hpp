// Rows of the quantizer table: conversions of single values, as instructions of processors make
// them. They have no blocks and no scales, so that what the fields say of those is never read;
// rounding, overflow and subnormals are named by each case. Every row names every field, and none
// is made from another: to mend one library changes no other. See quantizer.hpp for what the values
// mean.
#pragma once

#include <array>

#include "reference/spec/quantizer.hpp"

namespace mx {

inline constexpr std::array convert_rows{
    // AVX10.2's conversions read binary16 alone and heed no MXCSR: subnormals count, and what is
    // below the smallest is rounded. The biased forms add a byte and cut: rounding=stochastic8.
    Quantizer{
        .name = "avx10-fp8",
        .title = "AVX10.2: VCVTPH2BF8[S], VCVTPH2HF8[S], their two-source and biased forms",
        .source = "bochs-emu/Bochs@783b58fd6:bochs/cpu/avx/bf8.h, hf8.h; Intel's text unread",
        .waits = "",
        .scale_type = ScaleType::none,
        .formats = formats_named({"mxfp8-e4m3", "mxfp8-e5m2"}),
        .inputs = input_f16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::poisons_amax,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 0,
        .scale_ratio = ScaleRatio::none,
        .ratio_min = 0,
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::f32,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::exact_power,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::payload_kept,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = 0,
    },
    // FPMR.OSC chooses overflow=saturate; NSCALE is 0. FPCR's flushing does not count here.
    Quantizer{
        .name = "arm-fp8",
        .title = "Arm FEAT_FP8: FCVTN, BFCVTN and their kin, no scaling",
        .source = "qemu/qemu@0e81c21:target/arm/tcg/fp8_helper.c; Arm's FPConvertFP8 unread",
        .waits = "",
        .scale_type = ScaleType::none,
        .formats = formats_named({"mxfp8-e4m3", "mxfp8-e5m2"}),
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
        .scale_ratio = ScaleRatio::none,
        .ratio_min = 0,
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::f32,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::exact_power,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::quiet_bit,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = 0,
    },
    // One NaN a format, 0x7F, that of a negative value beyond E4M3 too. The rounding is frm's.
    Quantizer{
        .name = "riscv-fp8",
        .title = "RISC-V Zvfofp8min: vfncvt[.sat].f.f.q, vfncvtbf16[.sat].f.f.w",
        .source = "RISC-V Zvfofp8min 0.2.1; riscv-software-src/riscv-isa-sim@55b4658:softfloat",
        .waits = "",
        .scale_type = ScaleType::none,
        .formats = formats_named({"mxfp8-e4m3", "mxfp8-e5m2"}),
        .inputs = input_f32 | input_bf16,
        .transform = LaneTransform::none,
        .subnormals = Subnormals::honoured,
        .nan_in_block = NanInBlock::poisons_amax,
        .infinity_in_block = InfinityInBlock::is_amax,
        .amax_rounding = AmaxRounding::none,
        .amax_min = 0,
        .zero_block = ZeroBlock::as_cast,
        .tensor_scale = TensorScale::none,
        .scale_max = 0,
        .scale_ratio = ScaleRatio::none,
        .ratio_min = 0,
        .useless_amax = UselessAmax::as_computed,
        .encode_overflow = EncodeOverflow::infinity,
        .scale_rule = ScaleRule::f32,
        .scale_cast = not_e8m0,
        .candidate_error = CandidateError::none,
        .inverse = Inverse::exact_power,
        .quotient = Quotient::exact,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::of_overflow_too,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale,
        .nan_value = NanValue::any,
        .open = 0,
    },
};

}  // namespace mx
