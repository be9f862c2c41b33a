// From the exact sum of a GEMM to what it becomes: the factors of whole tensors, and how a
// quantizer reads values that no format has held. Both oracles read it.
#pragma once

#include <cstdint>

#include "reference/spec/quantizers.hpp"

namespace mx {

// What every element of a factor is multiplied by beside the scale of its block: a binary32 number
// over a whole one. The quotient is not rounded where sums are exact. A tensor core knows scales of
// blocks alone, so that under a model both factors come in with alpha, as libraries hand it to the
// kernel: (alpha * number of A) * number of B, times 1 over the product of the divisors where that
// is not 1, each of them rounded to binary32. TransformerEngine's order, where the number is an
// amax (nvte_nvfp4_compute_per_tensor_scale).
struct TensorFactor {
    Code number{0x3F800000};
    std::uint32_t divisor = 1;
};

// That of a quantizer, from the number that a file keeps for the tensor; all scales and the element
// are multiplied exactly, where the quantizer's own way back rounds each product to binary32. The
// largest element times scale_max is a whole number: 6 * 448.
MX_FOLDED constexpr TensorFactor tensor_factor(const Quantizer& quantizer, Code kept) {
    constexpr std::uint32_t largest_e2m1 = 6;
    switch (quantizer.way_back) {
        case WayBack::times_scale:
            return {};
        case WayBack::times_scale_tensor:
            return {kept, 1};
        case WayBack::times_scale_amax:
            return {kept, largest_e2m1 * static_cast<std::uint32_t>(quantizer.scale_max)};
    }
    return {};
}

// Elements are made of the exact value, but where a quotient is rounded before it becomes one: that
// is a quotient of binary32 numbers.
MX_FOLDED constexpr bool reads_lanes_in_f32(const Quantizer& quantizer) {
    return quantizer.quotient != Quotient::exact;
}

// The scale is made of the exact amax, but where it is computed in binary32: fl32 and log2f take a
// binary32 number, which is the amax rounded to nearest even, and Inf beyond the range.
MX_FOLDED constexpr bool reads_amax_in_f32(const Quantizer& quantizer) {
    const bool takes_logarithm =
        takes_log2f(quantizer) || quantizer.scale_cast.rounding == ScaleRounding::nearest_log2;
    const bool is_exact =
        quantizer.scale_ratio == ScaleRatio::over_emax || quantizer.scale_ratio == ScaleRatio::none;
    return takes_logarithm || !is_exact || reads_lanes_in_f32(quantizer);
}

// A quantizer that reads nothing as wide as binary32 says nothing of wider values.
constexpr bool takes_exact_values(const Quantizer& quantizer) {
    return quantizer.reads("f32") && quantizer.is_known();
}

// Whether a quantizer makes blocks of D one after the other. A number of the whole tensor that
// hangs on all of D is there too late.
constexpr bool makes_output_blocks(const Quantizer& quantizer, const BlockFormat& format) {
    return quantizer.quantizes(format) && takes_exact_values(quantizer) &&
           !format.is_whole_tensor() && quantizer.tensor_scale == TensorScale::none &&
           quantizer.transform == LaneTransform::none &&
           quantizer.candidate_error == CandidateError::none &&
           quantizer.element_rounding != Rounding::stochastic;
}

// What would need a word on exact values, and has none yet: which of them are subnormal, and which
// random bits decide.
static_assert([] {
    for (const Quantizer& quantizer : e8m0_quantizers)
        if (takes_exact_values(quantizer) && (quantizer.subnormals == Subnormals::inputs_flushed ||
                                              quantizer.element_rounding == Rounding::stochastic))
            return false;
    return true;
}());
static_assert([] {
    for (const BlockFormat& format : real_scale_formats)
        for (const Quantizer& quantizer : real_scale_quantizers)
            if (quantizer.quantizes(format) && quantizer.way_back == WayBack::times_scale_amax &&
                format.element().name != formats::e2m1.name)
                return false;
    return true;
}());

}  // namespace mx
