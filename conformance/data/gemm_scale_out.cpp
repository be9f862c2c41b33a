// See gemm_scale_out.hpp.
#include "conformance/data/gemm_scale_out.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/fast/decode.hpp"

namespace mx {
namespace {

// Rows and columns of D that are looked at.
constexpr std::int64_t looked_at_max = 48;

// The codes of a tensor, if there is one.
struct Numbers {
    ElementFormat type = {};
    const CodeTensor* codes = nullptr;

    double at(std::int64_t row, std::int64_t column) const;
};

double Numbers::at(std::int64_t row, std::int64_t column) const {
    const fast::Unpacked value = fast::unpack(
        type, Code{codes->at(static_cast<std::size_t>(row * codes->columns + column))});
    if (value.kind != fast::Kind::finite) return std::nan("");
    const double magnitude =
        std::ldexp(static_cast<double>(value.significand), static_cast<int>(value.exponent));
    return value.negative ? -magnitude : magnitude;
}

struct Side {
    Numbers elements, scales;
    FactorScalingRow scaling;

    double at(std::int64_t row, std::int64_t k) const {
        const double element = elements.at(row, k);
        if (scales.codes == nullptr) return element;
        const std::int64_t line = scaling.rows == 0 ? 0 : row / scaling.rows;
        return element * scales.at(line, scaling.block == 0 ? 0 : k / scaling.block);
    }
};

std::int64_t step_for(std::int64_t count) {
    return std::max<std::int64_t>(1, count / looked_at_max);
}

}  // namespace

Code fitting_scale_out(const GemmProblem& gemm, const std::vector<GemmTensor>& tensors,
                       const std::vector<CodeTensor>& inputs) {
    const auto numbers_of = [&](GemmPart part) {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (tensors[i].part == part) return Numbers{tensors[i].type, &inputs[i]};
        return Numbers{};
    };
    const Side a{numbers_of(GemmPart::a), numbers_of(GemmPart::scales_a), row_of(gemm.a.scaling)};
    const Side b{numbers_of(GemmPart::b), numbers_of(GemmPart::scales_b), row_of(gemm.b.scaling)};
    const Numbers c = numbers_of(GemmPart::c);
    const std::int64_t rows = gemm.batches * gemm.m;
    const auto alpha = static_cast<double>(std::bit_cast<float>(gemm.alpha));
    const auto beta = static_cast<double>(std::bit_cast<float>(gemm.beta));
    double largest = 0;
    for (std::int64_t row = 0; row < rows; row += step_for(rows))
        for (std::int64_t column = 0; column < gemm.n; column += step_for(gemm.n)) {
            const std::int64_t b_row = row / gemm.m * gemm.n + column;
            double sum = 0;
            for (std::int64_t k = 0; k < gemm.k; ++k) sum += a.at(row, k) * b.at(b_row, k);
            sum *= alpha;
            if (c.codes != nullptr) sum += beta * c.at(row, column);
            if (std::isfinite(sum)) largest = std::max(largest, std::fabs(sum));
        }
    // Others may be twice as large, or have a bias.
    constexpr double aimed_at = 6.0 * 448 / 4;
    const auto scale = static_cast<float>(aimed_at / std::max(largest, 0x1p-100));
    return Code{std::bit_cast<std::uint32_t>(scale)};
}

}  // namespace mx
