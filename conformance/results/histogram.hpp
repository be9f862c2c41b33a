// A histogram as a record holds it: runs of neighbouring cells with the same count, so that a
// device that is wrong everywhere fills no disk. Used by the record, those who count and those who
// draw. Must not know what the cells stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mx::results {

// `each` in every one of `cells` cells from `first` on.
struct CellRun {
    std::uint64_t first = 0, cells = 0, each = 0;
    bool operator==(const CellRun&) const = default;
};
using Histogram = std::vector<CellRun>;

// No histogram has more cells: one for every 16 leading bits of an input.
inline constexpr std::uint64_t histogram_cells_max = 65536;

// What is not 0 in `counts`, in order. Where that takes more than `runs_max` runs, those that hold
// most.
Histogram histogram_of(std::span<const std::uint64_t> counts, std::size_t runs_max);

// Cells beyond the end of `counts` are left out.
void add_to(std::span<std::uint64_t> counts, const Histogram& histogram);

std::uint64_t total_of(const Histogram& histogram);

}  // namespace mx::results
