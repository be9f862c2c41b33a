// How two factors are cut and summed by a kernel: the same for all tiles. Used by exact_gemm.cpp
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/gemm/panels.hpp"

namespace mx::gemm {

// Where the digits of a flushed sum lie: from 2^low to below 2^high, E8M0 scales aside.
struct SumSpan {
    int low;
    int high;
};

struct Plan {
    Slabs slabs;
    int interval = slab_max;               // products between two flushes
    std::vector<Half> halves{Half::none};  // of A, each a panel
    std::vector<SumSpan> spans;            // of each half, or of each part of a block sum
    std::size_t spans_a_step = 1;
    std::int64_t steps_at_once = 0;  // no more flushes than a level has room for
    int levels_more = 0;             // for what the levels have carried by then
};

Plan plan_of(const Kernel& kernel, const Factors& factors);

}  // namespace mx::gemm
