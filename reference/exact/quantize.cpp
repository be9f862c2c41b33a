// See quantize.hpp.
#include "reference/exact/quantize.hpp"

namespace mx::exact {

Block quantize(const BlockQuestion& question, std::span<const Value> lanes,
               std::span<const RandomBits> random) {
    const auto& [quantizer, format, input, tensor] = question;
    MX_ASSERT(quantizer.quantizes(format));
    if (quantizer.has_e8m0_scales()) return quantize_block(quantizer, format, lanes, random);
    ScaledBlock block = quantize_block(question, lanes, random);
    return {block.scale.stored, std::move(block.elements)};
}

Code dequantize(const DequantizeQuestion& question, StoredElement stored) {
    const auto& [quantizer, format, output, kept] = question;
    if (format.has_e8m0_scales()) return dequantize(format, output, stored.scale, stored.element);
    return round(output, Rounding::nearest_even, Overflow::overflow,
                 dequantize_f32(quantizer, format, kept, stored));
}

}  // namespace mx::exact
