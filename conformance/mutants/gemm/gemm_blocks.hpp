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

inline constexpr std::size_t lanes_of_d = 32;

inline double amax_of(const GemmRequest& request, const std::vector<double>& lanes) {
    const bool spreads = request.dialect == Dialect::ocp;
    double amax = 0;
    for (const double lane : lanes) {
        if (std::isnan(lane) && spreads) return nan_value;
        if (!std::isnan(lane)) amax = std::max(amax, std::fabs(lane));
    }
    return amax;
}

inline std::vector<double> lanes_at(const std::vector<float>& row, std::size_t first) {
    std::vector<double> lanes;
    for (std::size_t i = first; i < std::min(first + lanes_of_d, row.size()); ++i) {
        const double lane = static_cast<double>(row[i]);
        lanes.push_back(has(Bug::d_rounded_before_blocks) ? through_bf16(lane) : lane);
    }
    return lanes;
}

// A row of D. The scale and the elements are made of the same lanes.
inline void write_blocks(const GemmRequest& request, std::int64_t row,
                         const std::vector<float>& numbers) {
    std::uint8_t before = 127;
    for (std::size_t first = 0; first < numbers.size(); first += lanes_of_d) {
        const std::vector<double> lanes = lanes_at(numbers, first);
        const std::uint8_t right =
            encode_scale(amax_of(request, lanes), request.d.format, request.dialect);
        std::uint8_t scale = right;
        if (has(Bug::d_scale_one_up)) scale = static_cast<std::uint8_t>(std::min(right + 1, 254));
        if (has(Bug::d_scale_of_block_before) && first != 0) scale = before;
        before = right;
        if (!has(Bug::d_scales_untouched))
            write(request.scales_d, {row, static_cast<std::int64_t>(first / lanes_of_d)}, scale);
        const std::uint8_t of_elements = has(Bug::d_elements_unscaled) ? 127 : right;
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            write(
                request.d, {row, static_cast<std::int64_t>(first + lane)},
                encode_element(lanes[lane] * scale_reciprocal(of_elements), request.d.format, {}));
    }
}

}  // namespace mx::mutants::gemm
