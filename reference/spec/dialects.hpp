// The table of dialects. A new dialect is a new row and changes no function.
#pragma once

#include <array>

#include "reference/spec/dialect.hpp"

namespace mx {

// What all rows so far have in common; a row names every field in which it differs.
inline constexpr Dialect common_mxfp8_rules{
    .name = "",
    .title = "",
    .source = "",
    .scale_rule = ScaleRule::floor_amax,
    .scale_overflow = ScaleOverflow::nan,
    .scale_underflow = ScaleUnderflow::clamp,
    .zero_block = ZeroBlock::scale_min,
    .nan_in_block = NanInBlock::poisons_scale,
    .element_rounding = Rounding::nearest_even,
    .element_overflow = Overflow::saturate,
    .subnormals = Subnormals::honoured,
    .nan_code = NanCode::positive_all_ones,
    .sign_of_zero = SignOfZero::kept,
    .nan_value = NanValue::any,
    .open = 0,
};

// OCP MX v1.0 section 6.3. Where the text is silent the fields hold our choice and `open` says so:
// a NaN or Inf makes max|V| NaN or Inf, which no E8M0 value but NaN can stand for. Two more choices
// are binding here: the scale rule, which the section words as "should", for a device that uses
// another rule has another dialect; and V/X, of which it names no precision, as an exact quotient.
constexpr Dialect ocp_row() {
    Dialect row = common_mxfp8_rules;
    row.name = "ocp";
    row.title = "OCP Microscaling v1.0, section 6.3";
    row.source = "OCP MX v1.0 section 6.3 (scale, elements), 5.1 (scale NaN), 5.3.1 (OFP8)";
    row.open = Decision::nan_in_block | Decision::infinity_in_block | Decision::zero_block |
               Decision::scale_underflow | Decision::sign_of_zero | Decision::nan_code |
               Decision::value_beyond_f32;
    return row;
}

constexpr Dialect nv_row() {
    Dialect row = common_mxfp8_rules;
    row.name = "nv";
    row.title = "NVIDIA round-up: TransformerEngine generic kernels, CUDA header semantics";
    row.source =
        "NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/util/ptx_arch_spec.cuh, "
        "cast/mxfp8/quantize_mxfp8.cuh; CUDA 13.0 cuda_fp8.h";
    row.scale_rule = ScaleRule::round_up_ratio;
    row.scale_overflow = ScaleOverflow::saturate;
    row.nan_in_block = NanInBlock::own_lane_only;
    return row;
}

constexpr Dialect torchao_row(std::string_view name, std::string_view title, ScaleRule rule) {
    Dialect row = common_mxfp8_rules;
    row.name = name;
    row.title = title;
    row.source =
        "pytorch/ao@36027d82d:torchao/prototype/mx_formats/mx_tensor.py, "
        "torchao/csrc/cuda/mx_kernels/mxfp8_quantize.cuh";
    row.scale_rule = rule;
    return row;
}

inline constexpr std::array dialects{
    ocp_row(),
    nv_row(),
    torchao_row("torchao-floor", "torchao ScaleCalculationMode.FLOOR", ScaleRule::floor_amax),
    torchao_row("torchao-ceil", "torchao ScaleCalculationMode.CEIL", ScaleRule::ceil_amax),
    torchao_row("torchao-even", "torchao ScaleCalculationMode.EVEN", ScaleRule::even_amax),
    torchao_row("torchao-rceil", "torchao ScaleCalculationMode.RCEIL", ScaleRule::round_up_ratio),
};

// Returns nullptr when no row has that name.
constexpr const Dialect* find_dialect(std::string_view name) {
    for (const Dialect& dialect : dialects)
        if (dialect.name == name) return &dialect;
    return nullptr;
}

}  // namespace mx
