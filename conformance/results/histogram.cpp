// See histogram.hpp.
#include "conformance/results/histogram.hpp"

#include <algorithm>

namespace mx::results {

Histogram histogram_of(std::span<const std::uint64_t> counts, std::size_t runs_max) {
    Histogram runs;
    for (std::uint64_t cell = 0; cell < counts.size(); ++cell) {
        if (counts[cell] == 0) continue;
        const bool goes_on = !runs.empty() && runs.back().each == counts[cell] &&
                             runs.back().first + runs.back().cells == cell;
        if (goes_on)
            ++runs.back().cells;
        else
            runs.push_back({cell, 1, counts[cell]});
    }
    if (runs.size() <= runs_max) return runs;
    std::stable_sort(runs.begin(), runs.end(), [](const CellRun& a, const CellRun& b) {
        return a.cells * a.each > b.cells * b.each;
    });
    runs.resize(runs_max);
    std::sort(runs.begin(), runs.end(),
              [](const CellRun& a, const CellRun& b) { return a.first < b.first; });
    return runs;
}

void add_to(std::span<std::uint64_t> counts, const Histogram& histogram) {
    for (const CellRun& run : histogram)
        for (std::uint64_t cell = run.first; cell < run.first + run.cells; ++cell)
            if (cell < counts.size()) counts[cell] += run.each;
}

std::uint64_t total_of(const Histogram& histogram) {
    std::uint64_t total = 0;
    for (const CellRun& run : histogram) total += run.cells * run.each;
    return total;
}

}  // namespace mx::results
