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

// The runs of `function` over the patterns [first, last], over which it must be monotone: equal
// results stand together. About 31 evaluations a run.
template <typename Function>
std::vector<Run> runs_of(std::uint32_t first, std::uint32_t last, const Function& function) {
    std::vector<Run> runs;
    std::uint64_t start = first;
    while (start <= last) {
        const std::uint64_t result = function(static_cast<std::uint32_t>(start));
        std::uint64_t low = start, high = last;  // result(low) is known to be `result`
        while (low < high) {
            const std::uint64_t middle = low + (high - low + 1) / 2;
            if (function(static_cast<std::uint32_t>(middle)) == result)
                low = middle;
            else
                high = middle - 1;
        }
        MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(low)), ==, result);
        if (low < last)
            MX_ASSERT_COMPARE(function(static_cast<std::uint32_t>(low + 1)), !=, result);
        runs.push_back(
            {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(low), result});
        start = low + 1;
    }
    return runs;
}

}  // namespace mx::exact
