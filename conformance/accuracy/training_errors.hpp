// How far a quantized training parts from the same one in binary32, and whether that is within what
// is said of MXFP8. Used by mxcheck train.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/accuracy/training.hpp"

namespace mx::accuracy {

// Shares of what binary32 gives.
struct TrainingErrors {
    double outputs = 0, first_gradient = 0, last_gradient = 0, weights = 0;
    double loss_max = 0, loss_last = 0;
};
TrainingErrors errors_of(const TrainingRun& run, const TrainingRun& plain);

// Tolerances that one meets in others' tests of training in MXFP8. The gradient is that of the
// first step, where both trainings have the same weights.
struct TrainingLimit {
    std::string_view name;
    double TrainingErrors::*error;
    double limit;
};
inline constexpr std::array training_limits{
    TrainingLimit{"loss", &TrainingErrors::loss_max, 0.05},
    TrainingLimit{"first gradient", &TrainingErrors::first_gradient, 0.05},
    TrainingLimit{"weights", &TrainingErrors::weights, 0.03},
};

// The names of the limits that are not kept; NaN keeps none.
std::vector<std::string> beyond_limits(const TrainingErrors& errors);

}  // namespace mx::accuracy
