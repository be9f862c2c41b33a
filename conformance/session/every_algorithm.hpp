// mxcheck run --algorithms all: each GEMM case by every algorithm that the device lists for it.
// Used by run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/data/suite.hpp"
#include "device/host/question.hpp"
#include "reference/base/status.hpp"

namespace mx::session {

// The names of a device's ways to do what is asked; {""} where it has one.
using AlgorithmLister = std::function<Expected<std::vector<std::string>>(const Question&)>;

// A case that names an algorithm, or that the device does not do, stays as it is.
std::vector<PlannedCase> by_every_algorithm(std::vector<PlannedCase> cases,
                                            const AlgorithmLister& list);

}  // namespace mx::session
