// See accuracy.hpp.
#include "conformance/accuracy/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/fast/quantize.hpp"

namespace mx::accuracy {
namespace {

// The exponent of the gap between elements at this magnitude.
int gap_exponent(const ElementFormat& element, int binade) {
    return std::max(binade, element.exponent_min()) - element.mantissa_bits;
}

struct Lane {
    double value;
    double unit;  // what an element of 1 stands for
    double decoded;
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
    if (!std::isfinite(lane.decoded)) {
        ++accuracy.lost;
        return;
    }
    accuracy.zeros += lane.value == 0;
    count_codes(quantizer, lane, lane.value / lane.unit, accuracy);
    const double error = lane.decoded - lane.value;
    accuracy.signal += lane.value * lane.value;
    accuracy.noise += error * error;
    if (lane.value == 0) return;
    const double relative = std::abs(error / lane.value);
    accuracy.relative_sum += relative;
    accuracy.relative_max = std::max(accuracy.relative_max, relative);
    if (lane.unit == 0) return;
    const int binade = std::ilogb(lane.value / lane.unit);
    const double gap = std::ldexp(lane.unit, gap_exponent(quantizer.format.element(), binade));
    BinadeErrors& errors = accuracy.binades[binade];
    ++errors.elements;
    errors.sum += std::abs(error) / gap;
    errors.largest = std::max(errors.largest, std::abs(error) / gap);
}

// Under a power of two the number itself, though binary32 may lack it; otherwise what the rules
// make of it in binary32.
class Decoder {
public:
    Decoder(const Quantization& quantizer, std::uint32_t kept)
        : question_{quantizer.rules, quantizer.format, formats::f32,
                    fast::unpack(formats::f32, Code{kept})} {}

    Lane lane(double value, Code scale, Code code) const {
        const ElementFormat& element = question_.format.element();
        if (question_.format.has_e8m0_scales()) {
            const double unit = number_of(fast::unpack(question_.format.scale(), scale));
            return {value, unit, unit * number_of(fast::unpack(element, code)), code};
        }
        const Code one{static_cast<std::uint32_t>(element.exponent_bias) << element.mantissa_bits};
        return {value, decoded(scale, one), decoded(scale, code), code};
    }

private:
    double decoded(Code scale, Code code) const {
        return number_of(fast::unpack(formats::f32, fast::dequantize(question_, {scale, code})));
    }

    fast::DequantizeQuestion question_;
};

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
    const Decoder decoder(quantizer, codes.kept);
    const Blocking blocking = blocking_of(quantizer, rows);
    const bool has_bytes = quantizer.format.scale().code_bytes() == 1;
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        const Code scale{codes.scales[static_cast<std::size_t>(block)]};
        if (has_bytes) ++accuracy.scales[scale.bits];
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t i = place.element(lane);
            add_lane(quantizer, decoder.lane(rows.values[i], scale, Code{codes.elements[i]}),
                     accuracy);
        }
    }
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
