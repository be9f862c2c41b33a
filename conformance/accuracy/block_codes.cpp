// See block_codes.hpp.
#include "conformance/accuracy/block_codes.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "conformance/data/philox.hpp"
#include "reference/fast/quantize.hpp"

namespace mx::accuracy {
double number_of(const fast::Unpacked& value) {
    const double magnitude =
        value.kind == fast::Kind::nan ? std::numeric_limits<double>::quiet_NaN()
        : value.kind == fast::Kind::infinity
            ? std::numeric_limits<double>::infinity()
            : std::ldexp(static_cast<double>(value.significand), value.exponent);
    return value.negative ? -magnitude : magnitude;
}

RandomBits random_bits(const Quantization& quantizer, std::uint64_t place) {
    if (!quantizer.is_stochastic()) return {};
    const std::uint32_t word = philox({quantizer.seed, 1, place})[0];
    // The rules whose scale has a mantissa round with eight bits.
    return quantizer.format.has_e8m0_scales() ? RandomBits{word, 32} : RandomBits{word & 0xFF, 8};
}

Blocking blocking_of(const Quantization& quantizer, const Rows& rows) {
    const BlockFormat& format = quantizer.format;
    if (format.has_e8m0_scales())
        return {rows.count(), rows.columns, BlockAxis::row, quantizer.block};
    const BlockAxis axis = format.is_whole_tensor() ? BlockAxis::tensor
                           : format.block_rows > 1  ? BlockAxis::tile
                                                    : BlockAxis::row;
    return {rows.count(), rows.columns, axis, format.block_columns};
}

BlockCodes encode(const Quantization& quantizer, const Rows& rows) {
    const Quantizer& rules = quantizer.rules;
    std::vector<std::uint32_t> values(rows.values.size());
    std::ranges::transform(rows.values, values.begin(),
                           [](float value) { return std::bit_cast<std::uint32_t>(value); });
    fast::BlockQuestion question{rules, quantizer.format, formats::f32, {}};
    const bool has_number = rules.tensor_scale != TensorScale::none;
    if (has_number)
        question.tensor = fast::tensor_numbers(
            rules, quantizer.format,
            fast::amax_of(rules_of_tensor_amax(rules), formats::f32, values.data(),
                          static_cast<std::int64_t>(values.size())));
    BlockCodes codes;
    if (has_number) codes.kept = fast::f32_code(fast::kept_number(rules, question.tensor));
    codes.elements.resize(values.size());
    const Blocking blocking = blocking_of(quantizer, rows);
    std::vector<std::uint32_t> lanes(static_cast<std::size_t>(lanes_of(blocking)));
    std::vector<std::uint8_t> elements(lanes.size());
    std::vector<RandomBits> random(lanes.size());
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        for (int lane = 0; lane < place.count; ++lane) {
            const auto at = static_cast<std::size_t>(lane);
            lanes[at] = values[place.element(lane)];
            random[at] = random_bits(quantizer, place.element(lane));
        }
        codes.scales.push_back(
            fast::quantize(question, lanes.data(), place.count, elements.data(), random.data())
                .bits);
        for (int lane = 0; lane < place.count; ++lane)
            codes.elements[place.element(lane)] = elements[static_cast<std::size_t>(lane)];
    }
    return codes;
}

std::vector<float> decode(const Quantization& quantizer, const BlockCodes& codes,
                          std::int64_t columns) {
    std::vector<float> values(codes.elements.size());
    const Blocking blocking = blocking_of(quantizer, {values, columns});
    const fast::DequantizeQuestion question{quantizer.rules, quantizer.format, formats::f32,
                                            fast::unpack(formats::f32, Code{codes.kept})};
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        const Code scale{codes.scales[static_cast<std::size_t>(block)]};
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t i = place.element(lane);
            values[i] = std::bit_cast<float>(
                fast::dequantize(question, {scale, Code{codes.elements[i]}}).bits);
        }
    }
    return values;
}

}  // namespace mx::accuracy
