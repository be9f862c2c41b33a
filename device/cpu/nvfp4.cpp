// See nvfp4.hpp.
#include "device/cpu/nvfp4.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/cpu/gemm_decode.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

constexpr std::uint8_t scale_of_one = 127;  // of E8M0
constexpr float largest_element = 6.0f;
constexpr std::uint8_t nan_as_six = 7;

std::uint8_t nearest_code(ElementType type, float x) {
    Conversion how;
    how.nan_code = nan_as_six;
    return element_code(element_of(type), how, {std::bit_cast<std::uint32_t>(x), 0, 0});
}

// A NaN is not the largest of anything.
float largest_of(const Nvfp4Job& job, std::ptrdiff_t line, std::ptrdiff_t first,
                 std::ptrdiff_t end) {
    float amax = 0;
    for (std::ptrdiff_t lane = first; lane < end; ++lane)
        amax = std::fmax(amax, std::fabs(value_at({ValueType::f32, job.values}, line, lane)));
    return amax;
}

void quantize_block(const Nvfp4Job& job, std::ptrdiff_t line, std::ptrdiff_t first) {
    const std::ptrdiff_t end = std::min(first + nvfp4_block, job.extent.lanes);
    const std::uint8_t scale =
        nearest_code(ElementType::e4m3, largest_of(job, line, first, end) / largest_element);
    const float factor =
        1.0f / std::bit_cast<float>(dequantized(element_of(ElementType::e4m3),
                                                {scale, scale_of_one}, ValueType::f32));
    job.scales.data[line * job.scales.line_stride + first / nvfp4_block * job.scales.lane_stride] =
        scale;
    for (std::ptrdiff_t lane = first; lane < end; ++lane)
        job.codes.data[line * job.codes.line_stride + lane * job.codes.lane_stride] = nearest_code(
            ElementType::e2m1, value_at({ValueType::f32, job.values}, line, lane) * factor);
}

}  // namespace

void quantize_nvfp4(const Nvfp4Job& job) {
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line)
        for (std::ptrdiff_t first = 0; first < job.extent.lanes; first += nvfp4_block)
            quantize_block(job, line, first);
}

}  // namespace mx::cpu
