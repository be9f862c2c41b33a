// See heat.hpp.
#include "reports/model/heat.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace mx::reports {
namespace {

constexpr std::uint32_t mantissas = 128;
constexpr std::size_t scale_codes = 256;

std::size_t cell_of_bfloat16(std::uint32_t code) {
    const std::uint32_t mantissa = code % mantissas, exponent = code / mantissas % exponent_rows;
    const bool is_negative = code >> 15 != 0;
    const std::uint32_t column = is_negative ? mantissas - 1 - mantissa : mantissas + mantissa;
    return std::size_t{exponent_rows - 1 - exponent} * 2 * mantissas + column;
}

std::size_t cell_of_lane(std::uint32_t place) {
    const std::uint32_t lane = place / exponent_rows, exponent = place % exponent_rows;
    return std::size_t{exponent_rows - 1 - exponent} * lane_columns + lane;
}

HeatMap map_of(const results::Run& run, results::Histogram results::CaseResult::*histogram,
               std::uint32_t columns, std::size_t (*cell_of)(std::uint32_t)) {
    HeatMap map{columns, exponent_rows, {}, 0, 0};
    std::vector<std::uint64_t> counts(std::size_t{columns} * exponent_rows);
    for (const results::CaseResult& result : run.cases) {
        map.of += result.mismatched_elements + result.mismatched_scales;
        results::add_to(counts, result.*histogram);
    }
    map.placed = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    map.counts.resize(counts.size());
    for (std::uint32_t place = 0; place < counts.size(); ++place)
        map.counts[cell_of(place)] = counts[place];
    return map;
}

}  // namespace

std::uint64_t HeatMap::largest() const {
    return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

HeatMap input_map(const results::Run& run) {
    return map_of(run, &results::CaseResult::input_cells, 2 * mantissas, cell_of_bfloat16);
}

HeatMap lane_map(const results::Run& run) {
    return map_of(run, &results::CaseResult::lane_cells, lane_columns, cell_of_lane);
}

std::uint32_t bfloat16_at(std::size_t cell) {
    const auto row = static_cast<std::uint32_t>(cell / (2 * mantissas));
    const auto column = static_cast<std::uint32_t>(cell % (2 * mantissas));
    const std::uint32_t magnitude = (exponent_rows - 1 - row) * mantissas;
    if (column >= mantissas) return magnitude + column - mantissas;
    return 0x8000 + magnitude + mantissas - 1 - column;
}

std::string bfloat16_text(std::uint32_t code) {
    const float value = std::bit_cast<float>(code << 16);
    std::array<char, 48> text{};
    if (std::isnan(value))
        std::snprintf(text.data(), text.size(), "0x%04x = NaN", code);
    else
        std::snprintf(text.data(), text.size(), "0x%04x = %.8g", code, static_cast<double>(value));
    return text.data();
}

std::vector<std::size_t> hottest(const HeatMap& map, std::size_t count_max) {
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < map.counts.size(); ++cell)
        if (map.counts[cell] != 0) cells.push_back(cell);
    std::stable_sort(cells.begin(), cells.end(),
                     [&](std::size_t a, std::size_t b) { return map.counts[a] > map.counts[b]; });
    cells.resize(std::min(cells.size(), count_max));
    return cells;
}

ScaleCounts scale_counts(const results::Run& run) {
    ScaleCounts scales;
    scales.expected.resize(scale_codes);
    scales.actual.resize(scale_codes);
    for (const results::CaseResult& result : run.cases) {
        const results::Histogram& expected = result.expected_scale_codes;
        const results::Histogram& actual = result.actual_scale_codes;
        scales.of += result.scales;
        scales.counted += results::total_of(expected);
        results::add_to(scales.expected, expected);
        results::add_to(scales.actual, actual.empty() ? expected : actual);
    }
    return scales;
}

}  // namespace mx::reports
