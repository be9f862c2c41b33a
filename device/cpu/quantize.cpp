// quantize.hpp: the scalar arithmetic of one block, for what kernels leave over. Must not know
// dialect names or instruction sets.
#include "device/cpu/quantize.hpp"

#include <algorithm>

#include "device/cpu/quantize_kernels.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

std::uint32_t amax_of(const BlockJob& job, const BlockPlace& place) {
    std::uint32_t amax = 0;
    for_each_cell(place, [&](Cell cell) {
        const std::uint32_t value = load_f32_bits(job.recipe.value_type, value_at(job, cell));
        const std::uint32_t absolute = value & f32_magnitude_mask;
        const bool left_out =
            absolute > f32_infinity && job.recipe.scale.nan_policy == NanPolicy::own_lane;
        if (!left_out) amax = std::max(amax, absolute);
    });
    return amax;
}

void quantize_block(const BlockJob& job, const BlockPlace& place) {
    const Recipe& recipe = job.recipe;
    const Element element = element_of(recipe.element_type);
    Conversion how;
    how.nan_code = recipe.nan_code;
    const std::uint8_t scale = scale_code(recipe.scale, amax_of(job, place));
    *scale_at(job, {place.line, place.lane}) = scale;
    for_each_cell(place, [&](Cell cell) {
        const std::uint32_t value = load_f32_bits(recipe.value_type, value_at(job, cell));
        *code_at(job, cell) = scale == scale_nan
                                  ? recipe.nan_code
                                  : element_code(element, how, {value, int{scale} - 127, 0});
    });
}

}  // namespace

void quantize(const BlockJob& job) {
    for_each_block(job, {quantize_run, quantize_strip, quantize_block});
}

void encode_scales(const EncodeScaleJob& job) {
    const std::ptrdiff_t width = width_of(job.value_type);
    for (std::ptrdiff_t line = 0; line < job.extent.lines; ++line) {
        for (std::ptrdiff_t lane = 0; lane < job.extent.lanes; ++lane) {
            const std::ptrdiff_t at = line * job.amax.line_stride + lane * job.amax.lane_stride;
            const std::uint32_t bits = load_f32_bits(job.value_type, job.amax.data + at * width);
            job.scales.data[line * job.scales.line_stride + lane * job.scales.lane_stride] =
                scale_code(job.rule, bits & f32_magnitude_mask);
        }
    }
}

}  // namespace mx::cpu
