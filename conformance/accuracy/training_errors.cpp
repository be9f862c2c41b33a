// See training_errors.hpp.
#include "conformance/accuracy/training_errors.hpp"

#include <cmath>

namespace mx::accuracy {

TrainingErrors errors_of(const TrainingRun& run, const TrainingRun& plain) {
    TrainingErrors errors;
    errors.outputs = relative_distance(run.first_outputs, plain.first_outputs);
    errors.first_gradient = relative_distance(run.first_gradient, plain.first_gradient);
    errors.last_gradient = relative_distance(run.last_gradient, plain.last_gradient);
    errors.weights = relative_distance(run.weights, plain.weights);
    for (std::size_t i = 0; i < run.losses.size(); ++i) {
        errors.loss_last = std::abs(run.losses[i] / plain.losses[i] - 1);
        // A NaN stays: a training that ran away is not off by nothing.
        if (!std::isnan(errors.loss_max) && !(errors.loss_last <= errors.loss_max))
            errors.loss_max = errors.loss_last;
    }
    return errors;
}

std::vector<std::string> beyond_limits(const TrainingErrors& errors) {
    std::vector<std::string> names;
    for (const TrainingLimit& limit : training_limits)
        if (!(errors.*limit.error < limit.limit)) names.emplace_back(limit.name);
    return names;
}

}  // namespace mx::accuracy
