// See block_codes.hpp.
#include "conformance/accuracy/block_codes.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "conformance/data/philox.hpp"
#include "reference/fast/block.hpp"

namespace mx::accuracy {
namespace {

RandomBits random_bits(const Quantization& quantizer, std::uint64_t place) {
    if (!quantizer.is_stochastic()) return {};
    return {philox({quantizer.seed, 1, place})[0], 32};
}

}  // namespace

double number_of(const fast::Unpacked& value) {
    const double magnitude =
        value.kind == fast::Kind::nan ? std::numeric_limits<double>::quiet_NaN()
        : value.kind == fast::Kind::infinity
            ? std::numeric_limits<double>::infinity()
            : std::ldexp(static_cast<double>(value.significand), value.exponent);
    return value.negative ? -magnitude : magnitude;
}

BlockShape shape_of(const Quantization& quantizer, const Rows& rows) {
    return {rows.values.size(), static_cast<std::size_t>(rows.columns),
            static_cast<std::size_t>(quantizer.block)};
}

BlockCodes encode(const Quantization& quantizer, const Rows& rows) {
    const Quantizer& rules = quantizer.rules;
    BlockCodes codes;
    codes.elements.resize(rows.values.size());
    std::vector<std::uint32_t> lanes(static_cast<std::size_t>(quantizer.block));
    for_each_block(shape_of(quantizer, rows), [&](const BlockRange& block) {
        for (std::size_t i = 0; i < block.lanes; ++i)
            lanes[i] = std::bit_cast<std::uint32_t>(rows.values[block.first + i]);
        const Code scale = fast::encode_scale(
            rules, quantizer.format,
            fast::amax_of(rules, formats::f32, lanes.data(), static_cast<int>(block.lanes)));
        codes.scales.push_back(static_cast<std::uint8_t>(scale.bits));
        for (std::size_t i = 0; i < block.lanes; ++i) {
            const auto value = fast::read_input(rules.subnormals, formats::f32, Code{lanes[i]});
            const Code element = fast::quantize_element(rules, quantizer.format, scale, value,
                                                        random_bits(quantizer, block.first + i));
            codes.elements[block.first + i] = static_cast<std::uint8_t>(element.bits);
        }
    });
    return codes;
}

std::vector<float> decode(const Quantization& quantizer, const BlockCodes& codes,
                          std::int64_t columns) {
    std::vector<float> values(codes.elements.size());
    const BlockShape shape = shape_of(quantizer, {values, columns});
    for_each_block(shape, [&](const BlockRange& block) {
        const Code scale{codes.scales[block.index]};
        for (std::size_t i = block.first; i < block.first + block.lanes; ++i)
            values[i] = std::bit_cast<float>(
                fast::dequantize(quantizer.format, formats::f32, scale, Code{codes.elements[i]})
                    .bits);
    });
    return values;
}

}  // namespace mx::accuracy
