// See gemm_decode.hpp.
#include "device/cpu/gemm_decode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/values.hpp"

namespace mx::cpu {
namespace {

double element_value(ElementType type, std::uint8_t code) {
    return static_cast<double>(number_of(type, code));
}

// The sign of UE4M3 means nothing.
double scale_value(FactorScaling scaling, std::uint8_t code) {
    if (scaling == FactorScaling::ue4m3) return element_value(ElementType::e4m3, code & 0x7F);
    return code == scale_nan ? std::numeric_limits<double>::quiet_NaN()
                             : std::ldexp(1.0, int{code} - 127);
}

}  // namespace

FactorDecoder::FactorDecoder(const Factor& factor) : factor_(factor) {
    for (std::size_t code = 0; code < 256; ++code) {
        const auto byte = static_cast<std::uint8_t>(code);
        if (factor.element) elements_[code] = element_value(*factor.element, byte);
        scales_[code] = scale_value(factor.scaling, byte);
    }
}

double FactorDecoder::scale_at(std::ptrdiff_t line, std::ptrdiff_t k) const {
    const bool is_blocked =
        factor_.scaling == FactorScaling::e8m0 || factor_.scaling == FactorScaling::ue4m3;
    if (!is_blocked) return 1;
    const Plane& plane = factor_.scales;
    return scales_[plane.data[line * plane.line_stride + k / factor_.block * plane.lane_stride]];
}

void FactorDecoder::decode(const Row& row, std::ptrdiff_t depth, double* out) const {
    const Plane& codes = factor_.codes;
    for (std::ptrdiff_t first = 0; first < depth; first += factor_.block) {
        const double scale = scale_at(row.scales, first);
        const std::ptrdiff_t end = std::min(first + factor_.block, depth);
        for (std::ptrdiff_t k = first; k < end; ++k)
            out[k] =
                factor_.element
                    ? elements_[codes.data[row.codes * codes.line_stride + k * codes.lane_stride]] *
                          scale
                    : static_cast<double>(value_at({factor_.value, codes}, row.codes, k));
    }
}

}  // namespace mx::cpu
