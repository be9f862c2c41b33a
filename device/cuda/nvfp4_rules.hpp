// The rules of NVFP4 that have a kernel of their own, where the compiler can see them: rows of
// real_scale_rules.cpp, and what nvfp4_rows.cu is made for.
#pragma once

#include "device/cuda/real_scale.hpp"

namespace mx::cuda {

// TransformerEngine keeps the amax of the tensor, and takes its maxima by fmaxf.
inline constexpr RealScaleRule te_nvfp4{TensorNumber::range_over_amax,
                                        448,
                                        NanInAmax::left_out,
                                        0,
                                        Ratio::times_scaled_number,
                                        ScaleSet::e4m3,
                                        Factor::inverse_of_product,
                                        ElementRounding::nearest_even,
                                        Overflow::saturate,
                                        7,
                                        false,
                                        false,
                                        WayBack::scale_and_amax};

// Eager PyTorch on a CPU. A NaN that is cast to E2M1 by shifts leaves the low bits of 1.5 * 2^128.
inline constexpr RealScaleRule torchao_nvfp4{TensorNumber::amax_over_range,
                                             448,
                                             NanInAmax::taken,
                                             0,
                                             Ratio::quotient_over_number,
                                             ScaleSet::e4m3_from_2tom6,
                                             Factor::inverse_number_over_scale,
                                             ElementRounding::nearest_even,
                                             Overflow::saturate,
                                             3,
                                             false,
                                             false,
                                             WayBack::scale_and_number};

// The same without a number for the tensor.
inline constexpr RealScaleRule torchao_nvfp4_single{TensorNumber::none,
                                                    448,
                                                    NanInAmax::taken,
                                                    0,
                                                    Ratio::quotient,
                                                    ScaleSet::e4m3_from_2tom6,
                                                    Factor::inverse,
                                                    ElementRounding::nearest_even,
                                                    Overflow::saturate,
                                                    3,
                                                    false,
                                                    false,
                                                    WayBack::scale};

// What cuBLASLt's documentation says of the blocks of a D. An element of a block whose scale is 0
// is 0 times Inf: NaN, for which E2M1 has 6.
inline constexpr RealScaleRule cublaslt_nvfp4{TensorNumber::none,
                                              448,
                                              NanInAmax::left_out,
                                              0,
                                              Ratio::quotient,
                                              ScaleSet::e4m3,
                                              Factor::inverse,
                                              ElementRounding::nearest_even,
                                              Overflow::saturate,
                                              7,
                                              false,
                                              false,
                                              WayBack::scale};

// Which kernel of nvfp4_rows.cu a rule has.
enum class Nvfp4Rule { none, te, torchao, torchao_single, cublaslt };
template <Nvfp4Rule rule>
MX_CUDA_BOTH constexpr RealScaleRule rule_of() {
    if constexpr (rule == Nvfp4Rule::te) return te_nvfp4;
    if constexpr (rule == Nvfp4Rule::torchao) return torchao_nvfp4;
    if constexpr (rule == Nvfp4Rule::torchao_single) return torchao_nvfp4_single;
    return cublaslt_nvfp4;
}
inline Nvfp4Rule find_nvfp4_rule(const RealScaleRule& rule) {
    if (rule == te_nvfp4) return Nvfp4Rule::te;
    if (rule == torchao_nvfp4) return Nvfp4Rule::torchao;
    if (rule == torchao_nvfp4_single) return Nvfp4Rule::torchao_single;
    return rule == cublaslt_nvfp4 ? Nvfp4Rule::cublaslt : Nvfp4Rule::none;
}

}  // namespace mx::cuda
