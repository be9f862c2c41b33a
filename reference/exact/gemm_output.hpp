// What becomes of the exact sum of a GEMM: the factors of whole tensors, alpha and C, and outputs
// that are blocks with scales of their own, made of values that were never rounded before.
#pragma once

#include "reference/exact/dot.hpp"
#include "reference/exact/quantize.hpp"
#include "reference/spec/gemm_output.hpp"

namespace mx::exact {

struct OutputFactors {
    Affine affine;
    TensorFactor a;
    TensorFactor b;
};

// alpha * the factors of both tensors * dot + beta * c, as combine says.
Value output_value(const OutputFactors& factors, const Value& dot, const Value& c);

// A block of such values, by a row that makes_output_blocks of the format. Under E8M0 they are
// taken as they are; where the scale has a mantissa all steps are binary32, and so is what the row
// takes, which is each value rounded to nearest even.
Block quantize_exact_block(const Quantizer& quantizer, const BlockFormat& format,
                           std::span<const Value> lanes);

}  // namespace mx::exact
