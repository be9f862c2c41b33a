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

// Where the end of a run is looked for.
struct Search {
    std::uint64_t start = 0;
    std::uint64_t result = 0;  // of `start`
    std::uint64_t last = 0;    // the end is not beyond
    std::uint64_t guess = 0;   // where it may well be: asked first, for that is cheap
};

// The last pattern of the run that starts at `start`: the guess and the pattern behind it, then
// steps that double until the result changes, then bisection of the last step.
template <typename Function>
std::uint64_t end_of_run(const Search& search, const Function& function) {
    std::uint64_t low = search.start;  // known to have the result
    std::uint64_t high = search.last;
    const auto ask = [&](std::uint64_t pattern) {
        if (pattern <= low || pattern > high) return true;
        const bool same = function(static_cast<std::uint32_t>(pattern)) == search.result;
        (same ? low : high) = same ? pattern : pattern - 1;
        return same;
    };
    bool goes_on = ask(search.guess) && ask(search.guess + 1);
    for (std::uint64_t step = 1; goes_on && low < high; step *= 2)
        goes_on = ask(high - low < step ? high : low + step);
    while (low < high) ask(low + (high - low + 1) / 2);
    return low;
}

// The runs of `function` over the patterns [first, last], over which it must be monotone: equal
// results stand together. Some 2 * log2(length of the run) evaluations each, or five where the run
// is as long as the one before the last: ties to even make short and long runs take turns.
template <typename Function>
std::vector<Run> runs_of(std::uint32_t first, std::uint32_t last, const Function& function) {
    std::vector<Run> runs;
    std::uint64_t length = 1, length_before = 1;
    for (std::uint64_t start = first; start <= last;) {
        const std::uint64_t result = function(static_cast<std::uint32_t>(start));
        const std::uint64_t end =
            end_of_run({start, result, last, start + length_before - 1}, function);
        length_before = length;
        length = end - start + 1;
        MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(end)), ==, result);
        if (end < last)
            MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(end + 1)), !=, result);
        runs.push_back(
            {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end), result});
        start = end + 1;
    }
    return runs;
}

// The same runs with the function asked for every pattern: it need not be monotone, and where its
// runs are those of bisection, it was.
template <typename Function>
std::vector<Run> runs_asked_everywhere(std::uint32_t first, std::uint32_t last,
                                       const Function& function) {
    std::vector<Run> runs;
    for (std::uint64_t pattern = first; pattern <= last; ++pattern) {
        const std::uint32_t input = static_cast<std::uint32_t>(pattern);
        const std::uint64_t result = function(input);
        if (runs.empty() || runs.back().result != result)
            runs.push_back({input, input, result});
        else
            runs.back().last = input;
    }
    return runs;
}

}  // namespace mx::exact
