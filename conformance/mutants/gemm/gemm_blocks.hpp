// D in blocks along its rows with scales of their own, made of binary32 numbers. Bugs of these are
// planted here; those of a quantizer have mutants of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conformance/mutants/gemm/gemm_bug.hpp"
#include "conformance/mutants/gemm/gemm_request.hpp"
#include "conformance/mutants/mutant_layout.hpp"
#include "conformance/mutants/mutant_scales.hpp"

namespace mx::mutants::gemm {

inline double amax_of(const GemmRequest& request, const std::vector<double>& lanes) {
    const bool spreads = request.output == Output::mx && request.dialect == Dialect::ocp;
    double amax = 0;
    for (const double lane : lanes) {
        if (std::isnan(lane) && spreads) return nan_value;
        if (!std::isnan(lane)) amax = std::max(amax, std::fabs(lane));
    }
    return amax;
}

inline std::vector<double> lanes_at(const GemmRequest& request, const std::vector<float>& row,
                                    std::size_t first) {
    std::vector<double> lanes;
    const std::size_t end = std::min(first + lanes_of_d(request), row.size());
    for (std::size_t i = first; i < end; ++i) {
        const double lane = static_cast<double>(row[i]);
        lanes.push_back(has(Bug::d_rounded_before_blocks) ? through_bf16(lane) : lane);
    }
    return lanes;
}

// E4M3 next to a sixth of the largest, in binary32.
inline std::uint8_t encode_nvfp4_scale(double amax) {
    const float sixth = static_cast<float>(amax) / 6.0f;
    Manner manner;
    if (has(Bug::nvfp4_d_scale_cut)) manner.rounding = Rounding::toward_zero;
    return static_cast<std::uint8_t>(encode_element(static_cast<double>(sixth), e4m3, manner));
}

inline std::uint8_t scale_of(const GemmRequest& request, double amax) {
    if (request.output == Output::nvfp4) return encode_nvfp4_scale(amax);
    return encode_scale(amax, request.d.format, request.dialect);
}

// What a lane becomes before it is rounded to an element, where its block has this scale.
inline double scaled_lane(const GemmRequest& request, double lane, std::uint8_t scale) {
    if (has(Bug::d_elements_unscaled)) return lane;
    if (request.output == Output::mx) return lane * scale_reciprocal(scale);
    const float factor = 1.0f / static_cast<float>(decode(scale, e4m3));
    return static_cast<double>(static_cast<float>(lane) * factor);
}

// The scale that is written for a block, of those that are right for it and the one before.
inline std::uint8_t written_scale(const GemmRequest& request, std::uint8_t right,
                                  std::uint8_t before) {
    const std::uint8_t largest = request.output == Output::nvfp4 ? 0x7E : 254;
    if (has(Bug::d_scale_one_up)) return std::min(static_cast<std::uint8_t>(right + 1), largest);
    if (has(Bug::d_scale_of_block_before)) return before;
    if (has(Bug::nvfp4_d_scale_of_block_before) && request.output == Output::nvfp4) return before;
    return right;
}

// A row of D. The scale and the elements are made of the same lanes.
inline void write_blocks(const GemmRequest& request, std::int64_t row,
                         const std::vector<float>& numbers) {
    const std::size_t size = lanes_of_d(request);
    std::uint8_t before = 0;
    for (std::size_t first = 0; first < numbers.size(); first += size) {
        const std::vector<double> lanes = lanes_at(request, numbers, first);
        const std::uint8_t right = scale_of(request, amax_of(request, lanes));
        const Cell place{row, static_cast<std::int64_t>(first / size)};
        if (!has(Bug::d_scales_untouched))
            write(request.scales_d, place,
                  written_scale(request, right, first == 0 ? right : before));
        before = right;
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            auto column = static_cast<std::int64_t>(first + lane);
            if (has(Bug::nvfp4_d_nibbles_exchanged) && request.d.bits == 4) column ^= 1;
            if (column >= request.columns) continue;
            write(request.d, {row, column},
                  encode_element(scaled_lane(request, lanes[lane], right), request.d.format, {}));
        }
    }
}

}  // namespace mx::mutants::gemm
