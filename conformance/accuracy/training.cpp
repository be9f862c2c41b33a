// See training.hpp.
#include "conformance/accuracy/training.hpp"

#include <algorithm>
#include <cmath>

#include "conformance/accuracy/distributions.hpp"
#include "reference/spec/assert.hpp"

namespace mx::accuracy {
namespace {

struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<float> values = {};

    float& at(int row, int column) { return values[place(row, column)]; }
    float at(int row, int column) const { return values[place(row, column)]; }
    std::size_t place(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
               static_cast<std::size_t>(column);
    }
};

Matrix zeros(int rows, int columns) {
    Matrix matrix{rows, columns};
    matrix.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return matrix;
}

Matrix normal(int rows, int columns, std::uint64_t seed) {
    const std::int64_t count = std::int64_t{rows} * columns;
    return {rows, columns, draw(*find_distribution("normal"), {count, seed})};
}

Matrix transposed(const Matrix& matrix) {
    Matrix result = zeros(matrix.columns, matrix.rows);
    for (int row = 0; row < matrix.rows; ++row)
        for (int column = 0; column < matrix.columns; ++column)
            result.at(column, row) = matrix.at(row, column);
    return result;
}

// Who multiplies, and what the two kinds of operands pass through.
struct Step {
    Arithmetic& arithmetic;
    const TrainingRules& rules;
};

struct Side {
    const Matrix& matrix;
    const Quantization* quantizer;

    Operand operand() const { return {{matrix.values, matrix.columns}, quantizer}; }
};

// a * b^T.
Expected<Matrix> multiplied(Arithmetic& arithmetic, const Side& a, const Side& b) {
    auto product = arithmetic.multiply(a.operand(), b.operand());
    if (!product) return product.error();
    return Matrix{a.matrix.rows, b.matrix.rows, std::move(product).value()};
}

using Layers = std::vector<Matrix>;  // outputs x inputs

Layers random_layers(const TrainingTask& task, std::uint64_t seed) {
    Layers layers;
    for (std::size_t i = 1; i < task.widths.size(); ++i) {
        layers.push_back(normal(task.widths[i], task.widths[i - 1], seed + i));
        const float size = 1 / std::sqrt(static_cast<float>(task.widths[i - 1]));
        for (float& weight : layers.back().values) weight *= size;
    }
    return layers;
}

// The inputs of each layer, and the outputs of the last.
Expected<std::vector<Matrix>> forward(const Layers& layers, const Matrix& inputs,
                                      const Step& step) {
    std::vector<Matrix> values{inputs};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        auto product = multiplied(step.arithmetic, {values.back(), step.rules.forward},
                                  {layers[i], step.rules.forward});
        if (!product) return product.error();
        values.push_back(std::move(product).value());
        if (i + 1 == layers.size()) break;
        for (float& value : values.back().values)
            if (value < 0) value = 0;
    }
    return values;
}

// From the gradient of the outputs to that of the inputs of one layer.
Expected<Matrix> passed_back(const Matrix& layer, const Matrix& inputs, const Matrix& gradient,
                             const Step& step) {
    const Matrix turned = transposed(layer);
    auto product =
        multiplied(step.arithmetic, {gradient, step.rules.gradient}, {turned, step.rules.forward});
    if (!product) return product;
    for (std::size_t i = 0; i < inputs.values.size(); ++i)
        if (inputs.values[i] <= 0) product.value().values[i] = 0;
    return product;
}

Expected<Layers> backward(const Layers& layers, const std::vector<Matrix>& values, Matrix gradient,
                          const Step& step) {
    Layers gradients(layers.size());
    for (std::size_t i = layers.size(); i-- > 0;) {
        const Matrix by_output = transposed(gradient), by_input = transposed(values[i]);
        auto product = multiplied(step.arithmetic, {by_output, step.rules.gradient},
                                  {by_input, step.rules.forward});
        if (!product) return product.error();
        gradients[i] = std::move(product).value();
        if (i == 0) break;
        auto next = passed_back(layers[i], values[i], gradient, step);
        if (!next) return next.error();
        gradient = std::move(next).value();
    }
    return gradients;
}

// Features of many sizes: 2^-4 to 2^3.
Matrix batch_of(const TrainingTask& task, int step) {
    Matrix inputs = normal(task.batch, task.widths.front(),
                           task.seed + 1000 + static_cast<std::uint64_t>(step));
    for (int row = 0; row < inputs.rows; ++row)
        for (int column = 0; column < inputs.columns; ++column)
            inputs.at(row, column) *= std::ldexp(1.0F, column * 5 % 8 - 4);
    return inputs;
}

double squared_error(const Matrix& outputs, const Matrix& wanted, Matrix& gradient) {
    double sum = 0;
    const auto count = static_cast<double>(outputs.values.size());
    for (std::size_t i = 0; i < outputs.values.size(); ++i) {
        const float error = outputs.values[i] - wanted.values[i];
        sum += double{error} * error;
        gradient.values[i] = static_cast<float>(2 * double{error} / count);
    }
    return sum / count;
}

std::vector<float> all_weights(const Layers& layers) {
    std::vector<float> all;
    for (const Matrix& layer : layers)
        all.insert(all.end(), layer.values.begin(), layer.values.end());
    return all;
}

// Two NaN are the same: no source says which bits a NaN of a sum has.
bool is_same(double actual, double expected) {
    return actual == expected || (std::isnan(actual) && std::isnan(expected));
}
bool are_same(const std::vector<float>& actual, const std::vector<float>& expected) {
    return std::ranges::equal(actual, expected, [](float a, float b) { return is_same(a, b); });
}

}  // namespace

TrainingTask linear_task() {
    return {.name = "linear 128 to 64", .widths = {128, 64}, .rate = 0.4F};
}

TrainingTask network_task() {
    return {.name = "network 64, 128, 128, 32", .widths = {64, 128, 128, 32}, .rate = 0.1F};
}

Expected<TrainingRun> train(const TrainingTask& task, const TrainingRules& rules,
                            Arithmetic& arithmetic) {
    PlainArithmetic plain;
    const Layers teacher = random_layers(task, task.seed + 100);
    Layers layers = random_layers(task, task.seed + 200);
    TrainingRun run;
    for (int step = 0; step < task.steps; ++step) {
        const Matrix inputs = batch_of(task, step % task.batches);
        const Matrix wanted = forward(teacher, inputs, {plain, {}}).value().back();
        const auto values = forward(layers, inputs, {arithmetic, rules});
        if (!values) return values.error();
        Matrix gradient = zeros(wanted.rows, wanted.columns);
        run.losses.push_back(squared_error(values.value().back(), wanted, gradient));
        const auto gradients = backward(layers, values.value(), gradient, {arithmetic, rules});
        if (!gradients) return gradients.error();
        if (step == 0) run.first_outputs = values.value().back().values;
        if (step == 0) run.first_gradient = all_weights(gradients.value());
        if (step + 1 == task.steps) run.last_gradient = all_weights(gradients.value());
        for (std::size_t i = 0; i < layers.size(); ++i)
            for (std::size_t j = 0; j < layers[i].values.size(); ++j)
                layers[i].values[j] -= task.rate * gradients.value()[i].values[j];
    }
    run.weights = all_weights(layers);
    return run;
}

std::optional<Parting> parting_of(const TrainingRun& actual, const TrainingRun& expected) {
    for (std::size_t step = 0; step < expected.losses.size(); ++step)
        if (!is_same(actual.losses[step], expected.losses[step])) return Parting{"loss", step};
    const std::size_t end = expected.losses.size() - 1;
    if (!are_same(actual.first_gradient, expected.first_gradient)) return Parting{"gradient", 0};
    if (!are_same(actual.last_gradient, expected.last_gradient)) return Parting{"gradient", end};
    if (!are_same(actual.weights, expected.weights)) return Parting{"weights", end};
    return std::nullopt;
}

double relative_distance(std::span<const float> actual, std::span<const float> expected) {
    MX_ASSERT_COMPARE(actual.size(), ==, expected.size());
    double apart = 0, length = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = double{actual[i]} - expected[i];
        apart += difference * difference;
        length += double{expected[i]} * expected[i];
    }
    return std::sqrt(apart / length);
}

}  // namespace mx::accuracy
