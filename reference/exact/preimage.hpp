// Where a monotone function of bit patterns changes its result: asked of the exact oracle by
// bisection, with both sides of every border asked again. What the fast oracle is held against.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/assert.hpp"

namespace mx::exact {

// Every pattern in [first, last] has this result.
struct Run {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint64_t result = 0;  // several results may be packed into one
    bool operator==(const Run&) const = default;
};

// The last pattern of the run that starts at `start`: steps that double until the result changes,
// then bisection of the last step.
template <typename Function>
std::uint64_t end_of_run(std::uint64_t start, std::uint64_t last, const Function& function) {
    const std::uint64_t result = function(static_cast<std::uint32_t>(start));
    std::uint64_t low = start;  // known to have the result
    std::uint64_t high = last;  // the end is not beyond
    for (std::uint64_t step = 1; low < high; step *= 2) {
        const std::uint64_t next = high - low < step ? high : low + step;
        if (function(static_cast<std::uint32_t>(next)) != result) {
            high = next - 1;
            break;
        }
        low = next;
    }
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        if (function(static_cast<std::uint32_t>(middle)) == result)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// The runs of `function` over the patterns [first, last], over which it must be monotone: equal
// results stand together. Some 2 * log2(length of the run) evaluations each.
template <typename Function>
std::vector<Run> runs_of(std::uint32_t first, std::uint32_t last, const Function& function) {
    std::vector<Run> runs;
    for (std::uint64_t start = first; start <= last;) {
        const std::uint64_t result = function(static_cast<std::uint32_t>(start));
        const std::uint64_t end = end_of_run(start, last, function);
        MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(end)), ==, result);
        if (end < last)
            MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(end + 1)), !=, result);
        runs.push_back(
            {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end), result});
        start = end + 1;
    }
    return runs;
}

}  // namespace mx::exact
