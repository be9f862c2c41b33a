// See gemm_output.hpp.
#include "reference/exact/gemm_output.hpp"

#include "reference/exact/arithmetic.hpp"

namespace mx::exact {
namespace {

Value value_of(const TensorFactor& factor) {
    Value value = decode(formats::f32, factor.number);
    if (value.is_finite()) value.magnitude /= factor.divisor;
    return value;
}

}  // namespace

Value output_value(const OutputFactors& factors, const Value& dot, const Value& c) {
    const Value in_tensors = times(value_of(factors.b), times(value_of(factors.a), dot));
    return combine(factors.affine, in_tensors, c);
}

namespace {

Block quantize_under_e8m0(const Quantizer& quantizer, const BlockFormat& format,
                          std::span<const Value> lanes) {
    Value amax = amax_of(quantizer, lanes);
    if (reads_amax_in_f32(quantizer))
        amax = rounded_value(formats::f32, Rounding::nearest_even, amax);
    Block block;
    block.scale = encode_scale(quantizer, format, amax);
    for (const Value& lane : lanes) {
        const Value read = reads_lanes_in_f32(quantizer)
                               ? rounded_value(formats::f32, Rounding::nearest_even, lane)
                               : lane;
        block.elements.push_back(quantize_element(quantizer, format, block.scale, read));
    }
    return block;
}

}  // namespace

Block quantize_exact_block(const Quantizer& quantizer, const BlockFormat& format,
                           std::span<const Value> lanes) {
    MX_ASSERT(makes_output_blocks(quantizer, format));
    if (quantizer.has_e8m0_scales()) return quantize_under_e8m0(quantizer, format, lanes);
    std::vector<Value> numbers;
    for (const Value& lane : lanes)
        numbers.push_back(rounded_value(formats::f32, Rounding::nearest_even, lane));
    const TensorNumbers tensor = tensor_numbers(quantizer, format, {});
    return quantize({quantizer, format, formats::f32, tensor}, numbers);
}

}  // namespace mx::exact
