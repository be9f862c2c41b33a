// Like mismatches of one case, gathered: each cluster once, the largest first. Used by what judges
// a case; knows nothing of how mismatches are told apart.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx {

// Clusters of one size stay in the order in which they come.
inline std::vector<results::Mismatch> largest_first(std::vector<results::Mismatch> clusters) {
    std::ranges::stable_sort(clusters, std::ranges::greater{}, &results::Mismatch::count);
    return clusters;
}

using ClustersByKind = std::map<std::string, results::Mismatch>;

inline std::vector<results::Mismatch> largest_first(ClustersByKind clusters) {
    std::vector<results::Mismatch> taken;
    for (auto& [kind, mismatch] : clusters) taken.push_back(std::move(mismatch));
    return largest_first(std::move(taken));
}

}  // namespace mx
