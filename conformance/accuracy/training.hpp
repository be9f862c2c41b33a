// Two small networks trained in binary32, and again with the operands of every product quantized:
// forward (x, w), dgrad (dy, w) and wgrad (dy, x), each along the dimension it is summed over, from
// the values and not from other codes. Who quantizes and who multiplies is an Arithmetic; all else
// is binary32 here, so that nothing else can differ. Used by mxcheck train.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/accuracy/arithmetic.hpp"

namespace mx::accuracy {

// What stands in the two kinds of operands. nullptr: the values as they are.
struct TrainingRules {
    const Quantization* forward = nullptr;   // x and w
    const Quantization* gradient = nullptr;  // dy
};

// Layers of these widths with a ReLU between them, fitted to a fixed random network of the same
// shape by plain gradient descent on the mean square error.
struct TrainingTask {
    std::string_view name;
    std::vector<int> widths;
    int batch = 64;
    int batches = 1000;  // that differ; they are taken in turn
    int steps = 200;
    float rate = 0;
    std::uint64_t seed = 0;
};
TrainingTask linear_task();
TrainingTask network_task();

struct TrainingRun {
    std::vector<double> losses;         // before each step
    std::vector<float> first_outputs;   // of the network, at the first step
    std::vector<float> first_gradient;  // of all weights, at the first step
    std::vector<float> last_gradient;
    std::vector<float> weights;  // at the end
};
// As error: what the arithmetic could not do.
Expected<TrainingRun> train(const TrainingTask& task, const TrainingRules& rules,
                            Arithmetic& arithmetic);

// Where two runs part, bit for bit: the first step whose loss differs, else what differs at the
// end.
struct Parting {
    std::string_view what;  // "loss", "gradient" or "weights"
    std::size_t step = 0;
};
std::optional<Parting> parting_of(const TrainingRun& actual, const TrainingRun& expected);

// The length of the difference over that of `expected`.
double relative_distance(std::span<const float> actual, std::span<const float> expected);

}  // namespace mx::accuracy
