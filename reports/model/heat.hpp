// Where the mismatches of a run are: over the inputs, and over lanes and exponents. Used by the
// HTML page. Must not know any format of output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx::reports {

// Counts in rows of cells, the topmost row first.
struct HeatMap {
    std::uint32_t columns = 0, rows = 0;
    std::vector<std::uint64_t> counts;
    std::uint64_t placed = 0;  // mismatches in the map
    std::uint64_t of = 0;      // mismatches of the run

    std::uint64_t largest() const;
};

inline constexpr std::uint32_t exponent_rows = 256;  // 255 on top
inline constexpr std::uint32_t lane_columns = 32;

// A cell for each bfloat16: negative mantissas from 127 to 0, then positive ones from 0 to 127.
HeatMap input_map(const results::Run& run);
// The bfloat16 of a cell.
std::uint32_t bfloat16_at(std::size_t cell);

HeatMap lane_map(const results::Run& run);

// "0x4188 = 17"
std::string bfloat16_text(std::uint32_t code);

// The cells with the largest counts, those first.
std::vector<std::size_t> hottest(const HeatMap& map, std::size_t count_max);

// How often each scale byte was expected and written, summed over the cases that counted them.
struct ScaleCounts {
    std::vector<std::uint64_t> expected, actual;  // 256 each
    std::uint64_t counted = 0, of = 0;            // scales; `of` is all that the run compared
};
ScaleCounts scale_counts(const results::Run& run);

}  // namespace mx::reports
