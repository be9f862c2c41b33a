// In what order does a device add? Two large products that cancel hide every product that has
// joined one of them by then: how many are left tells how many there are below the join of both
// (FPRev, Xie, Gao and Xu, USENIX ATC 2025). Of all pairs that are needed the tree follows.
// Used by gemm_search.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "conformance/identify/gemm_plain.hpp"
#include "conformance/identify/gemm_subject.hpp"

namespace mx::identify {

struct MeasuredTree {
    std::optional<SumTree> tree = {};
    std::string why_not = {};  // the first answer that no tree of single additions gives
};

// Of products of that depth. The error is a sentence about the device. `asked` is told after every
// call how many pairs there were so far.
Expected<MeasuredTree> measure_tree(GemmSubject& subject, const GemmShape& shape,
                                    const std::function<void(std::uint64_t)>& asked);

}  // namespace mx::identify
