// See gemm_sample.hpp.
#include "conformance/relation/gemm_sample.hpp"

#include <cstdio>

#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

std::uint32_t element(const std::string& type, Factors factors, Random& random) {
    const int bits = code_bits(type);
    const std::uint32_t code = random.low_bits(bits);
    const ElementFormat* format = find_element_format(type);
    if (format == nullptr) return code;
    if (factors == Factors::exact) {
        const std::uint32_t one = static_cast<std::uint32_t>(format->exponent_bias)
                                  << format->mantissa_bits;
        const bool is_integer = format->exponent_bits == 0;
        const std::uint32_t unit = is_integer ? 1u << format->mantissa_bits : one;
        const std::uint32_t minus =
            is_integer ? (0u - unit) & 0xFF : unit | format->code_sign_mask();
        return random.once_in(3) ? 0 : random.once_in(2) ? unit : minus;
    }
    const bool is_number = !format->is_nan(Code{code}) && !format->is_infinity(Code{code});
    // NaN and infinities take whole rows along: a few of them are enough.
    if (is_number || (factors == Factors::any && random.once_in(4))) return code;
    return code & ~(1u << (bits - 2));
}

CodeTensor elements(const std::string& type, const Cut& shape, Factors factors, Random& random) {
    CodeTensor tensor = make_tensor(type, shape.rows, shape.columns);
    for (std::size_t i = 0; i < tensor.count(); ++i) tensor.set(i, element(type, factors, random));
    return tensor;
}

CodeTensor scales(const Setting& setting, const CodeTensor& factor, Factors factors,
                  Random& random) {
    if (setting.scaling.empty()) return {};
    const bool is_tensor = setting.scaling == "tensor";
    const std::int64_t blocks = (factor.columns + setting.block - 1) / setting.block;
    CodeTensor tensor =
        is_tensor ? make_tensor("f32", 1, 1) : make_tensor(setting.scales, factor.rows, blocks);
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        if (is_tensor)
            tensor.set(i,
                       factors == Factors::exact ? one_f32 : one_f32 + (random.bits() & 0x1FFFFFF));
        else
            tensor.set(
                i, static_cast<std::uint32_t>(factors == Factors::exact ? 127 + random.below(2)
                                                                        : 122 + random.below(10)));
    }
    return tensor;
}

}  // namespace

Product make_product(const Setting& setting, const Sample& sample, const ProductRequest& request) {
    Random random(sample.seed);
    const Extents& e = sample.extents;
    Product p;
    p.batches = request.batches;
    p.a = elements(setting.elements, {0, 0, e.m * p.batches, e.k}, request.factors, random);
    p.b = elements(setting.elements_b, {0, 0, e.n * p.batches, e.k}, request.factors, random);
    p.scales_a = scales(setting, p.a, request.factors, random);
    p.scales_b = scales(setting, p.b, request.factors, random);
    return p;
}

CodeTensor make_numbers(const Setting& setting, const Cut& shape, Random& random) {
    const ElementFormat& type = *find_element_format(setting.values);
    CodeTensor tensor = make_tensor(setting.values, shape.rows, shape.columns);
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        const auto field = static_cast<std::uint32_t>(type.exponent_bias) + 4 -
                           static_cast<std::uint32_t>(random.below(10));
        tensor.set(i, (random.bits() & (type.code_sign_mask() | type.code_mantissa_mask())) |
                          field << type.mantissa_bits);
    }
    return tensor;
}

std::string text_of(const Product& p) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "alpha %x, beta %x, ", p.alpha, p.beta);
    std::string text = numbers;
    if (p.batches != 1) text += std::to_string(p.batches) + " batches, ";
    if (!p.epilogue.empty()) text += p.epilogue + ", ";
    if (p.scale_order != "strided") text += "scales " + p.scale_order + ", ";
    text += "A " + text_of(p.a);
    if (p.scales_a.rows != 0) text += " under " + text_of(p.scales_a);
    text += ", B " + text_of(p.b);
    if (p.scales_b.rows != 0) text += " under " + text_of(p.scales_b);
    if (p.c.rows != 0) text += ", C " + text_of(p.c);
    if (p.bias.rows != 0) text += ", bias " + text_of(p.bias);
    return text;
}

}  // namespace mx::relation
