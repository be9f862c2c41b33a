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

Block quantize_exact_block(const Dialect& dialect, const BlockFormat& format,
                           std::span<const Value> lanes) {
    MX_ASSERT(takes_exact_values(dialect));
    Value amax = amax_of(dialect, lanes);
    if (reads_amax_in_f32(dialect))
        amax = rounded_value(formats::f32, Rounding::nearest_even, amax);
    Block block;
    block.scale = encode_scale(dialect, format, amax);
    for (const Value& lane : lanes)
        block.elements.push_back(quantize_element(dialect, format, block.scale, lane));
    return block;
}

Block quantize_exact_block(const Recipe& recipe, const RecipeFormat& format,
                           std::span<const Value> lanes) {
    MX_ASSERT(makes_output_blocks(recipe, format));
    std::vector<Value> numbers;
    for (const Value& lane : lanes)
        numbers.push_back(rounded_value(formats::f32, Rounding::nearest_even, lane));
    const TensorNumbers tensor = tensor_numbers(recipe, format, {});
    RecipeBlock block = quantize_block({recipe, format, formats::f32, tensor}, numbers);
    return {block.scale.stored, std::move(block.elements)};
}

}  // namespace mx::exact
