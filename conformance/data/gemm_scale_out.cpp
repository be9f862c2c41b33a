// See gemm_scale_out.hpp.
#include "conformance/data/gemm_scale_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/fast/decode.hpp"
#include "reference/spec/gemm.hpp"

namespace mx {
namespace {

// Rows and columns of D that are looked at.
constexpr std::int64_t looked_at_max = 48;

double number_of(const CodeTensor& tensor, std::int64_t row, std::int64_t column) {
    const ElementFormat& format =
        tensor.type == ue4m3.name ? ue4m3 : *find_element_format(tensor.type);
    const fast::Unpacked value = fast::unpack(
        format, Code{tensor.at(static_cast<std::size_t>(row * tensor.columns + column))});
    if (value.kind != fast::Kind::finite) return std::nan("");
    const double magnitude =
        std::ldexp(static_cast<double>(value.significand), static_cast<int>(value.exponent));
    return value.negative ? -magnitude : magnitude;
}

struct Side {
    const CodeTensor* codes = nullptr;
    const CodeTensor* scales = nullptr;
    std::string scaling;

    double at(std::int64_t row, std::int64_t k) const {
        const double element = number_of(*codes, row, k);
        if (scales == nullptr) return element;
        const std::int64_t line = scaling == "tensor" ? 0 : scaling == "128x128" ? row / 128 : row;
        const std::int64_t block = block_of(scaling);
        return element * number_of(*scales, line, block == 0 ? 0 : k / block);
    }
};

std::int64_t step_for(std::int64_t count) {
    return std::max<std::int64_t>(1, count / looked_at_max);
}

}  // namespace

Code fitting_scale_out(const GemmSetting& setting, const std::vector<CodeTensor>& inputs) {
    const std::vector<GemmTensor> tensors = tensors_of(setting);
    Side a{nullptr, nullptr, setting.scaling_a}, b{nullptr, nullptr, setting.scaling_b};
    const CodeTensor* c = nullptr;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (tensors[i].part == GemmPart::c) c = &inputs[i];
        if (tensors[i].part == GemmPart::a) a.codes = &inputs[i];
        if (tensors[i].part == GemmPart::scales_a) a.scales = &inputs[i];
        if (tensors[i].part == GemmPart::b) b.codes = &inputs[i];
        if (tensors[i].part == GemmPart::scales_b) b.scales = &inputs[i];
    }
    const auto alpha = static_cast<double>(std::bit_cast<float>(setting.alpha));
    const auto beta = static_cast<double>(std::bit_cast<float>(setting.beta));
    double largest = 0;
    for (std::int64_t row = 0; row < a.codes->rows; row += step_for(a.codes->rows))
        for (std::int64_t column = 0; column < setting.n; column += step_for(setting.n)) {
            const std::int64_t b_row = row / setting.m * setting.n + column;
            double sum = 0;
            for (std::int64_t k = 0; k < setting.k; ++k) sum += a.at(row, k) * b.at(b_row, k);
            sum *= alpha;
            if (c != nullptr) sum += beta * number_of(*c, row, column);
            if (std::isfinite(sum)) largest = std::max(largest, std::fabs(sum));
        }
    // Others may be twice as large, or have a bias.
    constexpr double aimed_at = 6.0 * 448 / 4;
    const auto scale = static_cast<float>(aimed_at / std::max(largest, 0x1p-100));
    return Code{std::bit_cast<std::uint32_t>(scale)};
}

}  // namespace mx
