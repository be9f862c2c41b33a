// Each format and each dialect whose scales have a mantissa as a row. Used through
// real_scale_rules.hpp. Must not know the oracle's tables: written apart from them.
#include "device/cuda/real_scale_rules.hpp"

#include <array>

#include "device/cuda/nvfp4_rules.hpp"

namespace mx::cuda {
namespace {

constexpr std::array formats{
    RealScaleFormat{"nvfp4", nvfp4_lines, Element::e2m1, false, BlockShape::line, 16},
    RealScaleFormat{"nvfp4-16x16", nvfp4_tiles, Element::e2m1, false, BlockShape::tile, 16},
    RealScaleFormat{"fp8-e4m3-1x128", fp8_e4m3_128, Element::e4m3, true, BlockShape::line, 128},
    RealScaleFormat{"fp8-e4m3-128x128", fp8_e4m3_128, Element::e4m3, true, BlockShape::tile, 128},
    RealScaleFormat{"fp8-e5m2-1x128", fp8_e5m2_128, Element::e5m2, true, BlockShape::line, 128},
    RealScaleFormat{"fp8-e5m2-128x128", fp8_e5m2_128, Element::e5m2, true, BlockShape::tile, 128},
    RealScaleFormat{"fp8-e4m3-tensor", fp8_tensors, Element::e4m3, true, BlockShape::tensor, 0},
    RealScaleFormat{"fp8-e5m2-tensor", fp8_tensors, Element::e5m2, true, BlockShape::tensor, 0},
    RealScaleFormat{"fp8-e4m3-1x16", fp8_short_lines, Element::e4m3, true, BlockShape::line, 16},
    RealScaleFormat{"fp8-e4m3-1x32", fp8_short_lines, Element::e4m3, true, BlockShape::line, 32},
    RealScaleFormat{"fp8-e4m3-1x64", fp8_short_lines, Element::e4m3, true, BlockShape::line, 64},
    RealScaleFormat{"fp8-e5m2-1x16", fp8_short_lines, Element::e5m2, true, BlockShape::line, 16},
    RealScaleFormat{"fp8-e5m2-1x32", fp8_short_lines, Element::e5m2, true, BlockShape::line, 32},
    RealScaleFormat{"fp8-e5m2-1x64", fp8_short_lines, Element::e5m2, true, BlockShape::line, 64},
};

constexpr std::array dialects{
    RealScaleDialect{"te-nvfp4", nvfp4_lines | nvfp4_tiles, reads_all, te_nvfp4},
    RealScaleDialect{
        "te-nvfp4-fast",
        nvfp4_lines,
        reads_bf16,
        {TensorNumber::range_over_amax, 448, NanInAmax::left_out, 0, Ratio::times_scaled_number,
         ScaleSet::e4m3, Factor::bf16_quotient, ElementRounding::nearest_even, Overflow::saturate,
         7, false, true, WayBack::scale_and_amax}},
    RealScaleDialect{
        "te-nvfp4-sr",
        nvfp4_lines | nvfp4_tiles,
        reads_all,
        {TensorNumber::range_over_amax, 448, NanInAmax::left_out, 0, Ratio::times_scaled_number,
         ScaleSet::e4m3, Factor::inverse_of_product, ElementRounding::stochastic8,
         Overflow::saturate, 7, false, false, WayBack::scale_and_amax}},
    RealScaleDialect{
        "te-nvfp4-rht",
        nvfp4_lines,
        reads_bf16,
        {TensorNumber::range_over_amax, 448, NanInAmax::left_out, 0, Ratio::times_scaled_number,
         ScaleSet::e4m3, Factor::inverse_of_product, ElementRounding::nearest_even,
         Overflow::saturate, 7, true, false, WayBack::scale_and_amax}},
    RealScaleDialect{
        "te-nvfp4-4over6-mae",
        nvfp4_lines,
        reads_all,
        {TensorNumber::range_over_amax, 256, NanInAmax::left_out, 0, Ratio::quotient_times_number,
         ScaleSet::e4m3_absolute_of_two, Factor::inverse_of_product, ElementRounding::nearest_even,
         Overflow::saturate, 7, false, false, WayBack::scale_and_amax}},
    RealScaleDialect{
        "te-nvfp4-4over6-mse",
        nvfp4_lines,
        reads_all,
        {TensorNumber::range_over_amax, 256, NanInAmax::left_out, 0, Ratio::quotient_times_number,
         ScaleSet::e4m3_squares_of_two, Factor::inverse_of_product, ElementRounding::nearest_even,
         Overflow::saturate, 7, false, false, WayBack::scale_and_amax}},
    RealScaleDialect{
        "te-nvfp4-4over6-448",
        nvfp4_lines,
        reads_all,
        {TensorNumber::range_over_amax, 448, NanInAmax::left_out, 0, Ratio::quotient_times_number,
         ScaleSet::e4m3_absolute_of_two, Factor::inverse_of_product, ElementRounding::nearest_even,
         Overflow::saturate, 7, false, false, WayBack::scale_and_amax}},
    // PyTorch divides by a constant on a CPU, and multiplies by its inverse on a GPU.
    RealScaleDialect{"torchao-nvfp4", nvfp4_lines, reads_f32 | reads_bf16, torchao_nvfp4},
    RealScaleDialect{"torchao-nvfp4-gpu",
                     nvfp4_lines,
                     reads_f32 | reads_bf16,
                     {TensorNumber::amax_times_inverse_range, 448, NanInAmax::taken, 0,
                      Ratio::product_over_number, ScaleSet::e4m3_from_2tom6,
                      Factor::inverse_number_over_scale, ElementRounding::nearest_even,
                      Overflow::saturate, 3, false, false, WayBack::scale_and_number}},
    RealScaleDialect{"torchao-nvfp4-single", nvfp4_lines, reads_f32 | reads_bf16,
                     torchao_nvfp4_single},
    RealScaleDialect{"torchao-nvfp4-single-gpu",
                     nvfp4_lines,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 0, Ratio::product,
                      ScaleSet::e4m3_from_2tom6, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::saturate, 3, false, false, WayBack::scale}},
    RealScaleDialect{"cublaslt-nvfp4", nvfp4_lines, reads_f32, cublaslt_nvfp4},
    // TransformerEngine's FP8 multiplies by a scale and stores the inverse; delayed, the scale
    // comes from the amax of earlier tensors.
    RealScaleDialect{"te-fp8-block",
                     fp8_e4m3_128 | fp8_e5m2_128,
                     reads_all,
                     {TensorNumber::none, 448, NanInAmax::left_out, 0, Ratio::inverse_within_input,
                      ScaleSet::f32, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"te-fp8-block-pow2",
                     fp8_e4m3_128 | fp8_e5m2_128,
                     reads_all,
                     {TensorNumber::none, 448, NanInAmax::left_out, 0, Ratio::inverse_within_input,
                      ScaleSet::power_of_two_below, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"te-fp8-current",
                     fp8_tensors,
                     reads_all,
                     {TensorNumber::none, 448, NanInAmax::left_out, 0, Ratio::inverse_within_f32,
                      ScaleSet::f32, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"te-fp8-current-pow2",
                     fp8_tensors,
                     reads_all,
                     {TensorNumber::none, 448, NanInAmax::left_out, 0, Ratio::inverse_within_f32,
                      ScaleSet::power_of_two_below, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"te-fp8-delayed",
                     fp8_tensors,
                     reads_all,
                     {TensorNumber::given_as_scale, 448, NanInAmax::left_out, 0, Ratio::number,
                      ScaleSet::f32, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"torchao-fp8-block",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-12f, Ratio::inverse,
                      ScaleSet::f32, Factor::scale, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"deepgemm-fp8",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-4f, Ratio::quotient,
                      ScaleSet::f32, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::to_special, 7, false, false, WayBack::scale}},
    RealScaleDialect{"deepgemm-fp8-gpu",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-4f, Ratio::product,
                      ScaleSet::f32, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::to_special, 7, false, false, WayBack::scale}},
    RealScaleDialect{"deepgemm-fp8-pow2",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-4f, Ratio::quotient,
                      ScaleSet::power_of_two_above, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::saturate, 7, false, false, WayBack::scale}},
    RealScaleDialect{"deepgemm-fp8-pow2-legacy",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-4f, Ratio::quotient,
                      ScaleSet::power_of_two_above, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::to_special, 7, false, false, WayBack::scale}},
    RealScaleDialect{"deepgemm-fp8-pow2-gpu",
                     fp8_e4m3_128,
                     reads_f32 | reads_bf16,
                     {TensorNumber::none, 448, NanInAmax::taken, 1e-4f, Ratio::product,
                      ScaleSet::power_of_two_above, Factor::inverse, ElementRounding::nearest_even,
                      Overflow::to_special, 7, false, false, WayBack::scale}},
    RealScaleDialect{
        "nexus",
        fp8_short_lines,
        reads_all,
        {TensorNumber::none, 448, NanInAmax::taken, 0, Ratio::quotient, ScaleSet::f32, Factor::none,
         ElementRounding::nearest_even, Overflow::saturate, 7, false, false, WayBack::scale}},
};

}  // namespace

std::span<const RealScaleFormat> real_scale_formats() {
    return formats;
}

std::span<const RealScaleDialect> real_scale_dialects() {
    return dialects;
}

const RealScaleFormat* find_real_scale_format(std::string_view name) {
    for (const RealScaleFormat& row : formats)
        if (row.name == name) return &row;
    return nullptr;
}

const RealScaleDialect* find_real_scale_dialect(std::string_view name) {
    for (const RealScaleDialect& row : dialects)
        if (row.name == name) return &row;
    return nullptr;
}

}  // namespace mx::cuda
