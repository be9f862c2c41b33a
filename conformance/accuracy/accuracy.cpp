// See accuracy.hpp.
#include "conformance/accuracy/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "conformance/data/philox.hpp"
#include "reference/fast/block.hpp"

namespace mx::accuracy {
namespace {

// Exact: no significand here has more than 24 bits, no exponent leaves the range of binary64.
double number_of(const fast::Unpacked& value) {
    if (value.kind != fast::Kind::finite) return std::numeric_limits<double>::quiet_NaN();
    const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent);
    return value.negative ? -magnitude : magnitude;
}

RandomBits random_bits(const Quantizer& quantizer, std::uint64_t place) {
    if (quantizer.rules.element_rounding != Rounding::stochastic) return {};
    return {philox({quantizer.seed, 1, place})[0], 32};
}

// The exponent of the gap between elements at this magnitude.
int gap_exponent(const ElementFormat& element, int binade) {
    return std::max(binade, element.exponent_min()) - element.mantissa_bits;
}

struct Lane {
    double value;
    Code scale;
    Code element;
};

void count_codes(const Quantizer& quantizer, const Lane& lane, double scaled, Accuracy& accuracy) {
    const ElementFormat& element = quantizer.format.element();
    accuracy.flushed += lane.value != 0 && element.is_zero(lane.element);
    accuracy.subnormal += element.is_subnormal(lane.element);
    const bool is_largest = element.magnitude(lane.element) >= element.code_max_finite();
    const double largest = std::abs(number_of(fast::unpack(element, lane.element)));
    accuracy.saturated += is_largest && std::abs(scaled) > largest;
}

void add_lane(const Quantizer& quantizer, const Lane& lane, Accuracy& accuracy) {
    ++accuracy.elements;
    if (!std::isfinite(lane.value)) {
        ++accuracy.not_finite;
        return;
    }
    const double scale = number_of(fast::unpack(quantizer.format.scale(), lane.scale));
    const double element = number_of(fast::unpack(quantizer.format.element(), lane.element));
    if (!std::isfinite(scale * element)) {
        ++accuracy.lost;
        return;
    }
    accuracy.zeros += lane.value == 0;
    count_codes(quantizer, lane, lane.value / scale, accuracy);
    const double error = element * scale - lane.value;
    accuracy.signal += lane.value * lane.value;
    accuracy.noise += error * error;
    if (lane.value == 0) return;
    const double relative = std::abs(error / lane.value);
    accuracy.relative_sum += relative;
    accuracy.relative_max = std::max(accuracy.relative_max, relative);
    const int binade = std::ilogb(lane.value / scale);
    const double gap = std::ldexp(scale, gap_exponent(quantizer.format.element(), binade));
    BinadeErrors& errors = accuracy.binades[binade];
    ++errors.elements;
    errors.sum += std::abs(error) / gap;
    errors.largest = std::max(errors.largest, std::abs(error) / gap);
}

void add_block(const Quantizer& quantizer, std::span<const float> values, std::uint64_t place,
               Accuracy& accuracy) {
    std::vector<std::uint32_t> codes;
    for (const float value : values) codes.push_back(std::bit_cast<std::uint32_t>(value));
    const Dialect& rules = quantizer.rules;
    const Code scale = fast::encode_scale(
        rules, quantizer.format,
        fast::amax_of(rules, formats::f32, codes.data(), static_cast<int>(codes.size())));
    ++accuracy.scales[scale.bits & 0xFF];
    for (std::size_t lane = 0; lane < codes.size(); ++lane) {
        const fast::Unpacked value =
            fast::read_input(rules.subnormals, formats::f32, Code{codes[lane]});
        const Code element = fast::quantize_element(rules, quantizer.format, scale, value,
                                                    random_bits(quantizer, place + lane));
        add_lane(quantizer, {values[lane], scale, element}, accuracy);
    }
}

}  // namespace

double Accuracy::sqnr() const {
    return 10 * std::log10(signal / noise);
}

double Accuracy::relative_mean() const {
    const std::uint64_t counted = elements - not_finite - lost - zeros;
    return counted == 0 ? 0 : relative_sum / static_cast<double>(counted);
}

Accuracy measure(const Quantizer& quantizer, const Rows& rows) {
    Accuracy accuracy;
    const auto count = static_cast<std::int64_t>(rows.values.size());
    for (std::int64_t row = 0; row + rows.columns <= count; row += rows.columns)
        for (std::int64_t first = 0; first < rows.columns; first += quantizer.block) {
            const auto lanes = std::min<std::int64_t>(quantizer.block, rows.columns - first);
            const auto place = static_cast<std::size_t>(row + first);
            add_block(quantizer, rows.values.subspan(place, static_cast<std::size_t>(lanes)), place,
                      accuracy);
        }
    return accuracy;
}

}  // namespace mx::accuracy
