// mxcheck run --algorithms all: each GEMM case by every algorithm that the device lists for it.
// Used by run.
#pragma once

#include <vector>

#include "conformance/data/suite.hpp"
#include "device/host/client.hpp"

namespace mx::session {

// A case that names an algorithm, or that the device does not do, stays as it is.
std::vector<PlannedCase> by_every_algorithm(std::vector<PlannedCase> cases, const Client& client);

}  // namespace mx::session
