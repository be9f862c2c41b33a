// See gemm_epilogue.hpp.
#include "device/cpu/gemm_epilogue.hpp"

#include <bit>
#include <cmath>

#include "device/cpu/scalar.hpp"
#include "device/cpu/values.hpp"

namespace mx::cpu {
namespace {

constexpr std::uint8_t nan_of_gemm = 0x7F;

// That of the whole tensor, or of the row.
float scale_of(const Factor& factor, std::ptrdiff_t line) {
    return value_at({ValueType::f32, factor.scales},
                    factor.scaling == FactorScaling::row ? line : 0, 0);
}

float combined(const GemmJob& job, const Place& place, float sum) {
    const std::ptrdiff_t line = job.first_row(place.batch) + place.row;
    float alpha = job.alpha;
    const bool is_tensor = job.a.scaling == FactorScaling::tensor;
    const bool is_row = job.a.scaling == FactorScaling::row;
    if (is_tensor || is_row) {
        float& scaled = is_tensor ? alpha : sum;
        scaled *= scale_of(job.b, place.batch * job.columns + place.column);
        scaled *= scale_of(job.a, line);
    }
    if (job.c) return std::fma(alpha, sum, job.beta * value_at(*job.c, line, place.column));
    // A product that is -0 becomes +0; but a sum that has its scales, and no alpha, is the result.
    return is_row && alpha == 1 ? sum : std::fma(alpha, sum, 0.0f);
}

void store_element(const GemmJob& job, std::ptrdiff_t line, std::ptrdiff_t lane, float x) {
    Conversion how;
    how.nan_code = nan_of_gemm;
    const Plane& plane = job.d.plane;
    plane.data[line * plane.line_stride + lane * plane.lane_stride] =
        element_code(element_of(*job.d_element), how, {std::bit_cast<std::uint32_t>(x), 0, 0});
}

}  // namespace

void finish(const GemmJob& job, const Place& place, float sum) {
    float x = combined(job, place, sum);
    if (job.bias) x += value_at(*job.bias, 0, place.column);
    if (job.has_relu && x <= 0) x = 0;
    if (job.scale_d) x = std::fma(x, value_at({ValueType::f32, *job.scale_d}, 0, 0), 0.0f);
    const std::ptrdiff_t line = job.first_row(place.batch) + place.row;
    if (job.d_element)
        store_element(job, line, place.column, x);
    else
        store_value(job.d, line, place.column, x);
}

}  // namespace mx::cpu
