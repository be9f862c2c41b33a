// Joins like mismatches of like cases into clusters. Used by summary.cpp only. Must not know any
// format of output.
#pragma once

#include <vector>

#include "reports/model/summary.hpp"

namespace mx::reports {

// `places` has one entry per case of the run.
std::vector<Cluster> clusters_of(const results::Run& run, const std::vector<CellPlace>& places);

// The deviations among the cases, by the decision they hang on; most cases first.
std::vector<OpenDecision> deviations_of(const results::Run& run);

}  // namespace mx::reports
