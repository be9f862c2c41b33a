// Named data as the factors of a GEMM case. See gemm_accuracy.hpp.
#include <bit>
#include <cmath>

#include "conformance/accuracy/gemm_accuracy.hpp"
#include "conformance/accuracy/quantizer_names.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "reference/fast/round.hpp"

namespace mx::accuracy {
namespace {

Code rounded(const ElementFormat& format, float value) {
    return fast::round(format, Rounding::nearest_even, Overflow::saturate,
                       fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(value)}));
}

// One factor and, if it has any, its scales.
struct FactorTensors {
    const std::vector<float>& values;
    CodeTensor& codes;
    CodeTensor* scales;
};

void round_each(const FactorTensors& factor, const ElementFormat& format) {
    for (std::size_t i = 0; i < factor.values.size(); ++i)
        factor.codes.set(i, rounded(format, factor.values[i]).bits);
}

Status fill_blocks(const FactorTensors& factor, const QuantizerNames& names) {
    const auto quantizer = quantizer_of(names);
    if (!quantizer) return quantizer.error();
    const BlockCodes codes = encode(quantizer.value(), {factor.values, factor.codes.columns});
    for (std::size_t i = 0; i < codes.elements.size(); ++i) factor.codes.set(i, codes.elements[i]);
    for (std::size_t i = 0; i < codes.scales.size(); ++i) factor.scales->set(i, codes.scales[i]);
    return success();
}

// The rows and columns that share a scale of binary32.
Shape area_of(const FactorScalingRow& scales, const CodeTensor& codes) {
    return {scales.rows == 0 ? codes.rows : scales.rows,
            scales.block == 0 ? codes.columns : scales.block};
}

// The largest magnitude of an area becomes the largest element.
void fill_f32_scaled(const FactorTensors& factor, const FactorType& type) {
    const ElementFormat& format = type.element;
    const double largest = number_of(fast::unpack(format, Code{format.code_max_finite()}));
    const Shape area = area_of(row_of(type.scaling), factor.codes);
    CodeTensor& scales = *factor.scales;
    const auto scale_index = [&](std::size_t i) {
        const auto place = static_cast<std::int64_t>(i);
        return static_cast<std::size_t>(place / factor.codes.columns / area.rows * scales.columns +
                                        place % factor.codes.columns / area.columns);
    };
    std::vector<double> amax(scales.count(), 0);
    for (std::size_t i = 0; i < factor.values.size(); ++i)
        amax[scale_index(i)] = std::max(amax[scale_index(i)], std::abs(double{factor.values[i]}));
    std::vector<float> factors(scales.count(), 1);
    for (std::size_t i = 0; i < amax.size(); ++i) {
        if (amax[i] > 0) factors[i] = static_cast<float>(amax[i] / largest);
        scales.set(i, std::bit_cast<std::uint32_t>(factors[i]));
    }
    for (std::size_t i = 0; i < factor.values.size(); ++i)
        factor.codes.set(i, rounded(format, factor.values[i] / factors[scale_index(i)]).bits);
}

Status fill(const FactorTensors& factor, const FactorType& type, const std::string& dialect) {
    if (type.scaling == FactorScaling::ue4m3_1x16)
        return bad_input("accuracy makes no factor of " + name_of(type) +
                         ": its tensors have a scale of their own beside those of the blocks");
    if (type.scaling == FactorScaling::e8m0_1x32)
        return fill_blocks(factor, {name_of(type), dialect});
    if (type.scaling == FactorScaling::none)
        round_each(factor, type.element);
    else
        fill_f32_scaled(factor, type);
    return success();
}

}  // namespace

Expected<GemmFactors> gemm_factors(const Case& c, const Distribution& distribution,
                                   const std::string& dialect) {
    GemmFactors data;
    data.a = draw(distribution, {c.gemm.m * c.gemm.k, 2 * c.seed});
    data.b = draw(distribution, {c.gemm.n * c.gemm.k, 2 * c.seed + 1});
    for (const GemmTensor& tensor : tensors_of(c)) {
        if (tensor.part == GemmPart::d) break;
        if (tensor.part > GemmPart::scales_b)
            return bad_input("accuracy measures products alone, without C, bias or a scale of D");
        data.inputs.push_back(make_tensor(tensor.spec.type, tensor.spec.rows, tensor.spec.columns));
    }
    std::size_t next = 0;
    for (const auto& [type, values] :
         {std::pair{c.gemm.a, &data.a}, std::pair{c.gemm.b, &data.b}}) {
        CodeTensor& codes = data.inputs[next++];
        const bool has_scales = type.scaling != FactorScaling::none;
        CodeTensor* scales = has_scales ? &data.inputs[next++] : nullptr;
        if (const Status filled = fill({*values, codes, scales}, type, dialect); !filled)
            return filled.error();
    }
    return data;
}

}  // namespace mx::accuracy
