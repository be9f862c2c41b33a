// Two benchmarks side by side: which rows are faster, slower, the same, or cannot be told apart.
// Used by the command report. Must not know any format of output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/bench_record.hpp"

namespace mx::reports {

enum class Speed { same, faster, slower, uncertain };

// "SAME", "FASTER", "SLOWER", "UNCERTAIN": of the second beside the first.
std::string_view name_of(Speed speed);

struct SpeedRow {
    const results::BenchRow* first = nullptr;
    const results::BenchRow* second = nullptr;
    double ratio = 1;  // of the times, second over first
    double floor = 0;  // the noise that this comparison must rise above, as a share
    Speed speed = Speed::same;
};

struct SpeedComparison {
    std::vector<SpeedRow> rows;                        // those that both measured
    std::vector<std::string> only_first, only_second;  // names of the others
    double floor = 0;                      // the least floor of any row: that of the two runs
    std::vector<std::string> differences;  // of the runs: driver, clocks, version, ...
};

// An error where the two do not measure the same thing: other data, another place of the tensors,
// another clock. The floor of a row is the largest of its noise in either run, the median noise of
// the rows of either run, half a percent, and, on one machine, what the roof of its shape moved by
// from run to run. A ratio within the floor is the same; one beyond twice the floor, with spreads
// that do not meet, is faster or slower; anything between is uncertain, and so is a roof that
// moved.
Expected<SpeedComparison> compare(const results::Bench& first, const results::Bench& second);

}  // namespace mx::reports
