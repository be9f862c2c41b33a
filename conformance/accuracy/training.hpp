// Two small networks trained in binary32, and again with the operands of every product quantized:
// forward (x, w), dgrad (dy, w) and wgrad (dy, x), each along the dimension it is summed over, from
// the values and not from other codes. Products and sums are binary32, one fused multiply-add after
// the other, so that the quantizer is the only difference. Used by mxcheck train.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "conformance/accuracy/accuracy.hpp"

namespace mx::accuracy {

// What stands in the two kinds of operands. nullptr: the values as they are.
struct TrainingRules {
    const Quantizer* forward = nullptr;   // x and w
    const Quantizer* gradient = nullptr;  // dy
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
    std::vector<float> first_gradient;  // of all weights, at the first step
    std::vector<float> weights;         // at the end
};
TrainingRun train(const TrainingTask& task, const TrainingRules& rules);

// The length of the difference over that of `expected`.
double relative_distance(std::span<const float> actual, std::span<const float> expected);

// Codes of the value and back, in rows of `columns`; the values themselves without a quantizer.
std::vector<float> through(const Quantizer* quantizer, const Rows& rows);

}  // namespace mx::accuracy
