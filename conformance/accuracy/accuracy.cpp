// See accuracy.hpp.
#include "conformance/accuracy/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/fast/decode.hpp"

namespace mx::accuracy {
namespace {

// The exponent of the gap between elements at this magnitude.
int gap_exponent(const ElementFormat& element, int binade) {
    return std::max(binade, element.exponent_min()) - element.mantissa_bits;
}

struct Lane {
    double value;
    Code scale;
    Code element;
};

void count_codes(const Quantization& quantizer, const Lane& lane, double scaled,
                 Accuracy& accuracy) {
    const ElementFormat& element = quantizer.format.element();
    accuracy.flushed += lane.value != 0 && element.is_zero(lane.element);
    accuracy.subnormal += element.is_subnormal(lane.element);
    const bool is_largest = element.magnitude(lane.element) >= element.code_max_finite();
    const double largest = std::abs(number_of(fast::unpack(element, lane.element)));
    accuracy.saturated += is_largest && std::abs(scaled) > largest;
}

void add_lane(const Quantization& quantizer, const Lane& lane, Accuracy& accuracy) {
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

}  // namespace

double Accuracy::sqnr() const {
    return 10 * std::log10(signal / noise);
}

double Accuracy::relative_mean() const {
    const std::uint64_t counted = elements - not_finite - lost - zeros;
    return counted == 0 ? 0 : relative_sum / static_cast<double>(counted);
}

Accuracy measure(const Quantization& quantizer, const Rows& rows, const BlockCodes& codes) {
    Accuracy accuracy;
    for_each_block(shape_of(quantizer, rows), [&](const BlockRange& block) {
        const Code scale{codes.scales[block.index]};
        ++accuracy.scales[scale.bits];
        for (std::size_t i = block.first; i < block.first + block.lanes; ++i)
            add_lane(quantizer, {rows.values[i], scale, Code{codes.elements[i]}}, accuracy);
    });
    return accuracy;
}

Changes changes(const Encoded& first, const Encoded& second, std::int64_t columns) {
    Changes found;
    for (std::size_t i = 0; i < std::min(first.codes.scales.size(), second.codes.scales.size());
         ++i)
        found.scales += first.codes.scales[i] != second.codes.scales[i];
    const std::vector<float> one = decode(first.quantizer, first.codes, columns);
    const std::vector<float> other = decode(second.quantizer, second.codes, columns);
    for (std::size_t i = 0; i < one.size(); ++i) {
        const bool are_nan = std::isnan(one[i]) && std::isnan(other[i]);
        found.values += one[i] != other[i] && !are_nan;
    }
    return found;
}

}  // namespace mx::accuracy
