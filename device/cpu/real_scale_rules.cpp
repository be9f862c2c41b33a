// See real_scale_rules.hpp.
#include "device/cpu/real_scale_rules.hpp"

#include <array>

namespace mx::cpu {
namespace {

constexpr auto e2m1 = ElementType::e2m1, e4m3 = ElementType::e4m3, e5m2 = ElementType::e5m2;
constexpr auto ue4m3 = RealScaleType::ue4m3, ue5m3 = RealScaleType::ue5m3, f32 = RealScaleType::f32;
constexpr auto line = BlockShape::line, tile = BlockShape::tile, tensor = BlockShape::tensor;

constexpr std::array formats{
    RealScaleFormat{"nvfp4", nvfp4_lines, e2m1, ue4m3, line, 16},
    RealScaleFormat{"nvfp4-16x16", nvfp4_tiles, e2m1, ue4m3, tile, 16},
    RealScaleFormat{"fp8-e4m3-1x128", fp8_e4m3_128, e4m3, f32, line, 128},
    RealScaleFormat{"fp8-e4m3-128x128", fp8_e4m3_128, e4m3, f32, tile, 128},
    RealScaleFormat{"fp8-e5m2-1x128", fp8_e5m2_128, e5m2, f32, line, 128},
    RealScaleFormat{"fp8-e5m2-128x128", fp8_e5m2_128, e5m2, f32, tile, 128},
    RealScaleFormat{"fp8-e4m3-tensor", fp8_tensors, e4m3, f32, tensor, 0},
    RealScaleFormat{"fp8-e5m2-tensor", fp8_tensors, e5m2, f32, tensor, 0},
    RealScaleFormat{"fp8-e4m3-1x16", fp8_short_lines, e4m3, f32, line, 16},
    RealScaleFormat{"fp8-e4m3-1x32", fp8_short_lines, e4m3, f32, line, 32},
    RealScaleFormat{"fp8-e4m3-1x64", fp8_short_lines, e4m3, f32, line, 64},
    RealScaleFormat{"fp8-e5m2-1x16", fp8_short_lines, e5m2, f32, line, 16},
    RealScaleFormat{"fp8-e5m2-1x32", fp8_short_lines, e5m2, f32, line, 32},
    RealScaleFormat{"fp8-e5m2-1x64", fp8_short_lines, e5m2, f32, line, 64},
    RealScaleFormat{"fp4-ue5m3-1x16", fp4_ue5m3, e2m1, ue5m3, line, 16},
    RealScaleFormat{"fp4-ue5m3-16x16", fp4_ue5m3, e2m1, ue5m3, tile, 16},
};

// TransformerEngine's NVFP4 keeps the amax of the tensor, and takes its maxima by fmaxf.
constexpr RealScaleRule te_nvfp4{.name = "te-nvfp4",
                                 .formats = nvfp4_lines | nvfp4_tiles,
                                 .number = TensorNumber::range_over_amax,
                                 .ratio = Ratio::times_scaled_number,
                                 .scaling = LaneScaling::times_inverse_of_product,
                                 .way_back = WayBack::scale_and_amax};

// Eager PyTorch. A NaN that is cast to E2M1 by shifts leaves the low bits of 1.5 * 2^128.
constexpr RealScaleRule torchao_nvfp4{.name = "torchao-nvfp4",
                                      .formats = nvfp4_lines,
                                      .inputs = reads_f32 | reads_bf16,
                                      .nan_in_amax = NanInAmax::kept,
                                      .number = TensorNumber::amax_over_range,
                                      .ratio = Ratio::divided_over_number,
                                      .ratio_min = 0x1p-6f,
                                      .scaling = LaneScaling::times_inverse_number_over_scale,
                                      .nan_of_e2m1 = 3,
                                      .way_back = WayBack::scale_and_number};

// TransformerEngine's FP8 multiplies by a scale and stores the inverse.
constexpr RealScaleRule te_fp8{.name = "te-fp8-block",
                               .formats = fp8_e4m3_128 | fp8_e5m2_128,
                               .ratio = Ratio::encode_within_input,
                               .grid = ScaleGrid::f32,
                               .scaling = LaneScaling::times_scale};

constexpr RealScaleRule deepgemm{.name = "deepgemm-fp8",
                                 .formats = fp8_e4m3_128,
                                 .inputs = reads_f32 | reads_bf16,
                                 .nan_in_amax = NanInAmax::kept,
                                 .amax_min = 1e-4f,
                                 .ratio = Ratio::divided,
                                 .grid = ScaleGrid::f32,
                                 .scaling = LaneScaling::times_inverse,
                                 .overflow = OverflowMode::overflow};

constexpr RealScaleRule te_nvfp4_fast() {
    RealScaleRule rule = te_nvfp4;
    rule.name = "te-nvfp4-fast";
    rule.formats = nvfp4_lines;
    rule.inputs = reads_bf16;
    rule.scaling = LaneScaling::times_bf16_quotient;
    rule.drops_sign_of_zero = true;
    return rule;
}

constexpr RealScaleRule te_nvfp4_stochastic() {
    RealScaleRule rule = te_nvfp4;
    rule.name = "te-nvfp4-sr";
    rule.rounding = Rounding::stochastic;
    return rule;
}

constexpr RealScaleRule te_nvfp4_rotated() {
    RealScaleRule rule = te_nvfp4;
    rule.name = "te-nvfp4-rht";
    rule.formats = nvfp4_lines;
    rule.inputs = reads_bf16;
    rule.rotates = true;
    return rule;
}

// "Four over six": the amax becomes 6 or 4, whichever errs less.
struct FourOverSix {
    std::string_view name;
    float scale_max;
    ScaleGrid grid;
};
constexpr RealScaleRule four_over_six(const FourOverSix& choice) {
    RealScaleRule rule = te_nvfp4;
    rule.name = choice.name;
    rule.formats = nvfp4_lines;
    rule.scale_max = choice.scale_max;
    rule.ratio = Ratio::divided_times_number;
    rule.grid = choice.grid;
    return rule;
}

// ALTO's kernels divide by S first, and floor S where the tensor is zero or has a NaN.
constexpr RealScaleRule alto(std::string_view name, unsigned formats) {
    const bool is_wide = formats == fp4_ue5m3;
    return {.name = name,
            .formats = formats,
            .inputs = reads_f32 | reads_bf16,
            .keeps_nan_of_tensor = true,
            .number = TensorNumber::amax_over_range_1em30,
            .scale_max = is_wide ? 114688.0f : 448.0f,
            .ratio = Ratio::over_number_divided,
            .ratio_min = is_wide ? 0x1p-17f : 0x1p-6f,
            .scaling = LaneScaling::divided_by_product,
            .nan_of_e2m1 = 3,
            .way_back = WayBack::scale_and_number};
}
constexpr RealScaleRule alto_block(std::string_view name, unsigned formats) {
    RealScaleRule rule = alto(name, formats);
    rule.number = TensorNumber::none;
    rule.ratio = Ratio::divided;
    rule.scaling = LaneScaling::divided;
    rule.way_back = WayBack::scale;
    return rule;
}

// PyTorch divides by a constant on a CPU, and multiplies by its inverse on a GPU.
constexpr RealScaleRule torchao_nvfp4_gpu() {
    RealScaleRule rule = torchao_nvfp4;
    rule.name = "torchao-nvfp4-gpu";
    rule.number = TensorNumber::amax_times_inverse_range;
    rule.ratio = Ratio::times_inverse_over_number;
    return rule;
}

constexpr RealScaleRule torchao_single(std::string_view name, Ratio ratio) {
    RealScaleRule rule = torchao_nvfp4;
    rule.name = name;
    rule.number = TensorNumber::none;
    rule.ratio = ratio;
    rule.scaling = LaneScaling::times_inverse;
    rule.way_back = WayBack::scale;
    return rule;
}

struct Fp8Steps {
    std::string_view name;
    unsigned formats;
    Ratio ratio;
    ScaleGrid grid;
};
constexpr RealScaleRule changed(RealScaleRule rule, const Fp8Steps& steps) {
    rule.name = steps.name;
    rule.formats = steps.formats;
    rule.ratio = steps.ratio;
    rule.grid = steps.grid;
    return rule;
}

constexpr RealScaleRule saturating(RealScaleRule rule) {
    rule.overflow = OverflowMode::saturate;
    return rule;
}

// The scale comes from the amax of earlier tensors.
constexpr RealScaleRule te_fp8_delayed() {
    RealScaleRule rule =
        changed(te_fp8, {"te-fp8-delayed", fp8_tensors, Ratio::number, ScaleGrid::f32});
    rule.number = TensorNumber::scale_of_history;
    return rule;
}

constexpr std::array rules{
    te_nvfp4,
    te_nvfp4_fast(),
    te_nvfp4_stochastic(),
    te_nvfp4_rotated(),
    four_over_six({"te-nvfp4-4over6-mae", 256, ScaleGrid::least_absolute}),
    four_over_six({"te-nvfp4-4over6-mse", 256, ScaleGrid::least_squares}),
    four_over_six({"te-nvfp4-4over6-448", 448, ScaleGrid::least_absolute}),
    torchao_nvfp4,
    torchao_nvfp4_gpu(),
    torchao_single("torchao-nvfp4-single", Ratio::divided),
    torchao_single("torchao-nvfp4-single-gpu", Ratio::times_inverse),
    // What cuBLASLt's documentation says of the blocks of a D. A block whose scale is 0 is divided
    // by it: 0 times Inf is NaN, for which E2M1 has 6.
    RealScaleRule{.name = "cublaslt-nvfp4", .formats = nvfp4_lines, .inputs = reads_f32},
    RealScaleRule{.name = "mlx-nvfp4",
                  .formats = nvfp4_lines,
                  .inputs = reads_f32,
                  .nan_in_amax = NanInAmax::kept,
                  .scaling = LaneScaling::divided,
                  .looks_up = true,
                  .rounding = Rounding::nearest_toward_zero,
                  .nan_of_e2m1 = 0},
    te_fp8,
    changed(te_fp8, {"te-fp8-block-pow2", fp8_e4m3_128 | fp8_e5m2_128, Ratio::encode_within_input,
                     ScaleGrid::power_of_two_below}),
    changed(te_fp8, {"te-fp8-current", fp8_tensors, Ratio::encode_within_f32, ScaleGrid::f32}),
    changed(te_fp8, {"te-fp8-current-pow2", fp8_tensors, Ratio::encode_within_f32,
                     ScaleGrid::power_of_two_below}),
    te_fp8_delayed(),
    RealScaleRule{.name = "torchao-fp8-block",
                  .formats = fp8_e4m3_128,
                  .inputs = reads_f32 | reads_bf16,
                  .nan_in_amax = NanInAmax::kept,
                  .amax_min = 1e-12f,
                  .ratio = Ratio::encode,
                  .grid = ScaleGrid::f32,
                  .scaling = LaneScaling::times_scale},
    deepgemm,
    changed(deepgemm, {"deepgemm-fp8-gpu", fp8_e4m3_128, Ratio::times_inverse, ScaleGrid::f32}),
    saturating(changed(deepgemm, {"deepgemm-fp8-pow2", fp8_e4m3_128, Ratio::divided,
                                  ScaleGrid::power_of_two_above})),
    changed(deepgemm, {"deepgemm-fp8-pow2-legacy", fp8_e4m3_128, Ratio::divided,
                       ScaleGrid::power_of_two_above}),
    changed(deepgemm, {"deepgemm-fp8-pow2-gpu", fp8_e4m3_128, Ratio::times_inverse,
                       ScaleGrid::power_of_two_above}),
    RealScaleRule{.name = "nexus",
                  .formats = fp8_short_lines,
                  .nan_in_amax = NanInAmax::kept,
                  .ratio = Ratio::divided,
                  .grid = ScaleGrid::f32,
                  .scaling = LaneScaling::divided},
    alto("alto-nvfp4", nvfp4_lines | nvfp4_tiles),
    alto_block("alto-nvfp4-block", nvfp4_lines | nvfp4_tiles),
    alto("alto-amdfp4", fp4_ue5m3),
    alto_block("alto-amdfp4-block", fp4_ue5m3),
};

}  // namespace

const RealScaleFormat* find_real_scale_format(std::string_view name) {
    for (const RealScaleFormat& format : formats)
        if (format.name == name) return &format;
    return nullptr;
}

const RealScaleRule* find_real_scale_rule(std::string_view dialect) {
    for (const RealScaleRule& rule : rules)
        if (rule.name == dialect) return &rule;
    return nullptr;
}

}  // namespace mx::cpu
