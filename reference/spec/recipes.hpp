// The table of recipes. A new recipe is a new row and changes no function.
#pragma once

#include <array>
#include <cstdint>

#include "reference/spec/dialects.hpp"
#include "reference/spec/recipe_formats.hpp"

namespace mx {

inline constexpr std::uint32_t nvfp4_formats = recipe_formats_named({"nvfp4", "nvfp4-16x16"});
inline constexpr std::uint32_t tensor_formats =
    recipe_formats_named({"fp8-e4m3-tensor", "fp8-e5m2-tensor"});

// TransformerEngine's NVFP4 kernels. An amax is a fmaxf, which passes over NaN.
constexpr Recipe te_nvfp4_recipe() {
    return {
        .name = "te-nvfp4",
        .title = "TransformerEngine NVFP4, kernels without fast math",
        .source =
            "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4/"
            "core_nvfp4.cuh, quantize_transpose_nvfp4.cuh, dequantize_nvfp4.cuh",
        .formats = nvfp4_formats,
        .inputs = any_input,
        .transform = LaneTransform::none,
        .nan_in_block = NanInBlock::own_lane_only,
        .tensor_scale = TensorScale::encode,
        .division = ConstantDivision::times_reciprocal,
        .scale_max = 448,
        .amax_min = 0,
        .block_ratio = BlockRatio::amax_times_scaled_tensor,
        .useless_amax = UselessAmax::one,
        .encode_overflow = EncodeOverflow::largest_f32,
        .block_scale = BlockScale::e4m3,
        .candidate_error = CandidateError::none,
        .factor = Factor::reciprocal_of_product,
        .element_rounding = Rounding::nearest_even,
        .element_overflow = Overflow::saturate,
        .nan_code = NanCode::positive_all_ones,
        .sign_of_zero = SignOfZero::kept,
        .way_back = WayBack::times_scale_amax,
        .open = 0,
    };
}

// The factor is rounded to bfloat16, and fma(lane, factor, +0) turns -0 into +0.
constexpr Recipe te_nvfp4_fast_recipe() {
    Recipe row = te_nvfp4_recipe();
    row.name = "te-nvfp4-fast";
    row.title = "TransformerEngine NVFP4, tuned 1D kernel with fast math (bf16 factor)";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4/specialized/"
        "quantize_transpose_nvfp4_tuned_1D.cuh, common/util/ptx_arch_spec.cuh";
    row.formats = recipe_formats_named({"nvfp4"});
    row.inputs = input_bf16;
    row.factor = Factor::bf16_quotient;
    row.sign_of_zero = SignOfZero::input_dropped;
    return row;
}

// Eight random bits an element. Which bits of the generator reach which element hangs on the
// geometry of the launch, so the bits are given from outside.
constexpr Recipe te_nvfp4_stochastic_recipe() {
    Recipe row = te_nvfp4_recipe();
    row.name = "te-nvfp4-sr";
    row.title = "TransformerEngine NVFP4 with stochastic rounding, 8 random bits an element";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4/"
        "quantize_transpose_nvfp4.cuh, common/util/ptx.cuh; PTX ISA 9.0, cvt.rs";
    row.element_rounding = Rounding::stochastic;
    row.open = 0u | OpenRecipe::random_bits;
    return row;
}

// The products of the transform are added by a matrix unit in an order that no source tells; here
// the exact sum is rounded once to bfloat16. A NaN among 16 lanes spoils all 16, and the fused and
// the separate kernel then differ in the amax. The way back gives the rotated values.
constexpr Recipe te_nvfp4_rht_recipe() {
    Recipe row = te_nvfp4_recipe();
    row.name = "te-nvfp4-rht";
    row.title = "TransformerEngine NVFP4 after the 16-point random Hadamard transform";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/hadamard_transform/"
        "hadamard_transform.cu, hadamard_transform_cast_fusion.cu, "
        "transformer_engine/pytorch/tensor/nvfp4_tensor.py";
    row.formats = recipe_formats_named({"nvfp4"});
    row.inputs = input_bf16;
    row.transform = LaneTransform::hadamard16;
    row.open = OpenRecipe::transform_order | OpenRecipe::nan_in_block |
               OpenRecipe::infinity_in_block | OpenRecipe::sign_of_zero;
    return row;
}

// Two candidates for each block, one that maps its amax to 6 and one that maps it to 4. The one
// that maps to 6 wins a tie.
constexpr Recipe te_nvfp4_candidates_recipe(std::string_view name, std::string_view title,
                                            CandidateError error) {
    Recipe row = te_nvfp4_recipe();
    row.name = name;
    row.title = title;
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/cast/nvfp4/"
        "quantize_4over6_nvfp4.cuh, common/recipe/__init__.py";
    row.formats = recipe_formats_named({"nvfp4"});
    row.division = ConstantDivision::divided;
    row.scale_max = 256;
    row.block_ratio = BlockRatio::amax_over_max_times_tensor;
    row.block_scale = BlockScale::e4m3_best_of_two;
    row.candidate_error = error;
    return row;
}

constexpr Recipe te_nvfp4_candidates_448_recipe() {
    Recipe row = te_nvfp4_candidates_recipe(
        "te-nvfp4-4over6-448", "TransformerEngine NVFP4 four over six, absolute error, bound 448",
        CandidateError::absolute);
    row.scale_max = 448;
    return row;
}

// PyTorch on a CPU divides by a constant; on a GPU it multiplies by the reciprocal of one that is
// a number of the host (aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu). Each is a row.
constexpr Recipe torchao_nvfp4_recipe(std::string_view name, std::string_view title,
                                      ConstantDivision division) {
    Recipe row = te_nvfp4_recipe();
    row.name = name;
    row.title = title;
    row.source =
        "pytorch/ao@36027d82d:torchao/prototype/mx_formats/nvfp4_tensor.py; "
        "pytorch/pytorch@0f57f050d:aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu";
    row.formats = recipe_formats_named({"nvfp4"});
    row.inputs = input_f32 | input_bf16;
    row.nan_in_block = NanInBlock::poisons_amax;
    row.tensor_scale = TensorScale::decode;
    row.division = division;
    row.block_ratio = BlockRatio::amax_over_max_over_tensor;
    row.useless_amax = UselessAmax::as_computed;
    row.encode_overflow = EncodeOverflow::infinity;
    row.block_scale = BlockScale::e4m3_from_2tom6;
    row.factor = Factor::reciprocal_over_scale;
    row.nan_code = NanCode::as_number;
    row.way_back = WayBack::times_scale_tensor;
    // The code of a NaN is made of its payload and sign, which differ between processors.
    row.open = 0u | OpenRecipe::nan_code;
    return row;
}

constexpr Recipe torchao_nvfp4_single_recipe(std::string_view name, std::string_view title,
                                             ConstantDivision division) {
    Recipe row = torchao_nvfp4_recipe(name, title, division);
    row.tensor_scale = TensorScale::none;
    row.block_ratio = BlockRatio::amax_over_max;
    row.factor = Factor::reciprocal;
    row.way_back = WayBack::times_scale;
    return row;
}

// The blocks that cuBLASLt makes of its D. Each step is one of binary32: S = amax / 6, the stored
// scale e4m3(S), R = 1 / scale, the element e2m1(d * R). The number of D's tensor is no part of it:
// d has been multiplied by that before, as by the scale of a D of FP8. Taken at its word the
// formula gives R = 1 / 0 where S rounds to 0.
constexpr Recipe cublaslt_nvfp4_recipe() {
    Recipe row = te_nvfp4_recipe();
    row.name = "cublaslt-nvfp4";
    row.title = "cuBLASLt NVFP4 output, as documented; predicted, not run yet";
    row.source = "cuBLAS 13.1 documentation, section 3.1.4.4.1";
    row.formats = recipe_formats_named({"nvfp4"});
    row.inputs = input_f32;
    row.tensor_scale = TensorScale::none;
    row.division = ConstantDivision::divided;
    row.block_ratio = BlockRatio::amax_over_max;
    row.factor = Factor::reciprocal;
    row.way_back = WayBack::times_scale;
    row.open = OpenRecipe::nan_in_block | OpenRecipe::infinity_in_block | OpenRecipe::zero_block |
               OpenRecipe::nan_code | OpenRecipe::sign_of_zero | OpenRecipe::scale_range;
    return row;
}

// Blocks with binary32 scales. 1 / scale is computed in binary64 in one kernel and in binary32 in
// another: a quotient of two 24-bit numbers rounds to the same binary32 either way.
constexpr Recipe te_fp8_block_recipe() {
    Recipe row = te_nvfp4_recipe();
    row.name = "te-fp8-block";
    row.title = "TransformerEngine Float8BlockScaling, binary32 scales";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/recipe_common.cuh, "
        "transpose/quantize_transpose_vector_blockwise.cu, quantize_transpose_square_blockwise.cu";
    row.formats = recipe_formats_named(
        {"fp8-e4m3-1x128", "fp8-e4m3-128x128", "fp8-e5m2-1x128", "fp8-e5m2-128x128"});
    row.tensor_scale = TensorScale::none;
    row.block_ratio = BlockRatio::max_over_amax;
    row.encode_overflow = EncodeOverflow::largest_input;
    row.block_scale = BlockScale::f32;
    row.factor = Factor::encode_scale;
    row.way_back = WayBack::times_scale;
    return row;
}

constexpr Recipe te_fp8_block_power_recipe() {
    Recipe row = te_fp8_block_recipe();
    row.name = "te-fp8-block-pow2";
    row.title = "TransformerEngine Float8BlockScaling, scales cut to powers of two (its default)";
    row.block_scale = BlockScale::power_of_two_below;
    return row;
}

constexpr Recipe te_fp8_current_recipe() {
    Recipe row = te_fp8_block_recipe();
    row.name = "te-fp8-current";
    row.title = "TransformerEngine Float8CurrentScaling, one scale a tensor";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/recipe_common.cuh, "
        "recipe/current_scaling.cu";
    row.formats = tensor_formats;
    row.encode_overflow = EncodeOverflow::largest_f32;
    return row;
}

constexpr Recipe te_fp8_current_power_recipe() {
    Recipe row = te_fp8_current_recipe();
    row.name = "te-fp8-current-pow2";
    row.title = "TransformerEngine Float8CurrentScaling, scale cut to a power of two";
    row.block_scale = BlockScale::power_of_two_below;
    return row;
}

constexpr Recipe te_fp8_delayed_recipe() {
    Recipe row = te_fp8_current_recipe();
    row.name = "te-fp8-delayed";
    row.title = "TransformerEngine DelayedScaling, one scale a tensor from a history of amax";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/delayed_scaling.cu";
    row.tensor_scale = TensorScale::history;
    row.block_ratio = BlockRatio::tensor;
    return row;
}

// 1e-12 is a binary64 number in one of torchao's two versions and a binary32 one in the other;
// 448 over it is 0x57CBBA10 either way.
constexpr Recipe torchao_fp8_block_recipe() {
    Recipe row = te_fp8_block_recipe();
    row.name = "torchao-fp8-block";
    row.title = "torchao blockwise FP8 training, binary32 scales, amax of at least 1e-12";
    row.source = "pytorch/ao@36027d82d:torchao/prototype/blockwise_fp8_training/kernels.py";
    row.formats = recipe_formats_named({"fp8-e4m3-1x128", "fp8-e4m3-128x128"});
    row.inputs = input_f32 | input_bf16;
    row.nan_in_block = NanInBlock::poisons_amax;
    row.amax_min = 0x2B8CBCCC;  // 1e-12
    row.useless_amax = UselessAmax::as_computed;
    row.encode_overflow = EncodeOverflow::infinity;
    row.open = OpenRecipe::nan_in_block | OpenRecipe::nan_code;
    return row;
}

// DeepGEMM's own casts, which its kernels are tested with. The cast of PyTorch does not saturate;
// only an infinity can meet that, and it is NaN by then.
constexpr Recipe deepgemm_recipe(std::string_view name, std::string_view title,
                                 ConstantDivision division) {
    Recipe row = torchao_fp8_block_recipe();
    row.name = name;
    row.title = title;
    row.source =
        "deepseek-ai/DeepGEMM@54e2261:deep_gemm/utils/math.py; "
        "pytorch/pytorch@0f57f050d:aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu";
    row.amax_min = 0x38D1B717;  // 1e-4
    row.division = division;
    row.block_ratio = BlockRatio::amax_over_max;
    row.factor = Factor::reciprocal;
    row.element_overflow = Overflow::overflow;
    row.nan_code = NanCode::sign_kept;
    row.open = 0u | OpenRecipe::nan_code;
    return row;
}

constexpr Recipe deepgemm_power_recipe(std::string_view name, std::string_view title,
                                       ConstantDivision division) {
    Recipe row = deepgemm_recipe(name, title, division);
    row.block_scale = BlockScale::power_of_two_above;
    return row;
}

// Only the two formulas are given: scale = max|B| / FP8max, a real number, and B / scale. The rest
// is our choice: binary32, IEEE division, saturation.
constexpr Recipe nexus_recipe() {
    Recipe row = te_fp8_block_recipe();
    row.name = "nexus";
    row.title = "real-valued block scales amax / FP8max, called MXFP8 by their author";
    row.source = "nexus, MXFP8 page, section Block-Level Quantization";
    row.formats = recipe_formats_named({"fp8-e4m3-1x16", "fp8-e4m3-1x32", "fp8-e4m3-1x64",
                                        "fp8-e5m2-1x16", "fp8-e5m2-1x32", "fp8-e5m2-1x64"});
    row.nan_in_block = NanInBlock::poisons_amax;
    row.division = ConstantDivision::divided;
    row.block_ratio = BlockRatio::amax_over_max;
    row.useless_amax = UselessAmax::as_computed;
    row.factor = Factor::none;
    row.open = OpenRecipe::nan_in_block | OpenRecipe::infinity_in_block | OpenRecipe::zero_block |
               OpenRecipe::nan_code | OpenRecipe::sign_of_zero | OpenRecipe::scale_precision;
    return row;
}

// Left out: the DeepSeek-V3 inference kernel, whose Triton "/" is an approximate division on
// NVIDIA hardware, the fast-math reciprocal of the fused Hadamard kernels, which is approximate
// too, and four over six in 16x16 blocks.
inline constexpr std::array recipes{
    te_nvfp4_recipe(),
    te_nvfp4_fast_recipe(),
    te_nvfp4_stochastic_recipe(),
    te_nvfp4_rht_recipe(),
    te_nvfp4_candidates_recipe("te-nvfp4-4over6-mae",
                               "TransformerEngine NVFP4 four over six, absolute error, bound 256",
                               CandidateError::absolute),
    te_nvfp4_candidates_recipe("te-nvfp4-4over6-mse",
                               "TransformerEngine NVFP4 four over six, squared error, bound 256",
                               CandidateError::square),
    te_nvfp4_candidates_448_recipe(),
    torchao_nvfp4_recipe("torchao-nvfp4", "torchao NVFP4 with a tensor scale, on a CPU",
                         ConstantDivision::divided),
    torchao_nvfp4_recipe("torchao-nvfp4-gpu", "torchao NVFP4 with a tensor scale, on a GPU",
                         ConstantDivision::times_reciprocal),
    torchao_nvfp4_single_recipe("torchao-nvfp4-single",
                                "torchao NVFP4, block scales alone, on a CPU",
                                ConstantDivision::divided),
    torchao_nvfp4_single_recipe("torchao-nvfp4-single-gpu",
                                "torchao NVFP4, block scales alone, on a GPU",
                                ConstantDivision::times_reciprocal),
    cublaslt_nvfp4_recipe(),
    te_fp8_block_recipe(),
    te_fp8_block_power_recipe(),
    te_fp8_current_recipe(),
    te_fp8_current_power_recipe(),
    te_fp8_delayed_recipe(),
    torchao_fp8_block_recipe(),
    deepgemm_recipe("deepgemm-fp8", "DeepGEMM FP8 casts, binary32 scales, on a CPU",
                    ConstantDivision::divided),
    deepgemm_recipe("deepgemm-fp8-gpu", "DeepGEMM FP8 casts, binary32 scales, on a GPU",
                    ConstantDivision::times_reciprocal),
    deepgemm_power_recipe("deepgemm-fp8-pow2", "DeepGEMM FP8 casts, power-of-two scales, on a CPU",
                          ConstantDivision::divided),
    deepgemm_power_recipe("deepgemm-fp8-pow2-gpu",
                          "DeepGEMM FP8 casts, power-of-two scales, on a GPU",
                          ConstantDivision::times_reciprocal),
    nexus_recipe(),
};

// Returns nullptr when no row has that name.
constexpr const Recipe* find_recipe(std::string_view name) {
    return find_named(recipes, name);
}

// A name stands in one table only.
constexpr bool recipe_names_are_unique() {
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        if (find_recipe(recipes[i].name) != &recipes[i]) return false;
        if (find_dialect(recipes[i].name) != nullptr) return false;
    }
    for (std::size_t i = 0; i < recipe_formats.size(); ++i) {
        if (find_recipe_format(recipe_formats[i].name) != &recipe_formats[i]) return false;
        if (find_block_format(recipe_formats[i].name) != nullptr) return false;
        if (find_element_format(recipe_formats[i].name) != nullptr) return false;
    }
    return true;
}
static_assert(recipe_names_are_unique());

}  // namespace mx
