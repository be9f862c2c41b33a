// See training.hpp.
#include "conformance/accuracy/training.hpp"

#include <bit>
#include <cmath>

#include "conformance/accuracy/distributions.hpp"
#include "reference/fast/block.hpp"
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

// A product's operand: rows along what is summed over, and what they pass through.
struct Operand {
    const Matrix& matrix;
    const Quantizer* quantizer;

    Matrix read() const {
        return {matrix.rows, matrix.columns, through(quantizer, {matrix.values, matrix.columns})};
    }
};

// a * b^T.
Matrix multiplied(const Operand& a, const Operand& b) {
    const Matrix left = a.read(), right = b.read();
    MX_ASSERT_COMPARE(left.columns, ==, right.columns);
    Matrix product = zeros(left.rows, right.rows);
    const Matrix columns = transposed(right);  // for loops along memory
    for (int row = 0; row < left.rows; ++row)
        for (int k = 0; k < left.columns; ++k) {
            const float factor = left.at(row, k);
            for (int column = 0; column < right.rows; ++column) {
                float& sum = product.at(row, column);
                sum = std::fma(factor, columns.at(k, column), sum);
            }
        }
    return product;
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
std::vector<Matrix> forward(const Layers& layers, const Matrix& inputs,
                            const TrainingRules& rules) {
    std::vector<Matrix> values{inputs};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        values.push_back(multiplied({values.back(), rules.forward}, {layers[i], rules.forward}));
        if (i + 1 == layers.size()) break;
        for (float& value : values.back().values)
            if (value < 0) value = 0;
    }
    return values;
}

// Replaces `gradient`, of the outputs, by that of the inputs of one layer.
void pass_back(const Matrix& layer, const Matrix& inputs, const TrainingRules& rules,
               Matrix& gradient) {
    const Matrix turned = transposed(layer);
    gradient = multiplied({gradient, rules.gradient}, {turned, rules.forward});
    for (std::size_t i = 0; i < gradient.values.size(); ++i)
        if (inputs.values[i] <= 0) gradient.values[i] = 0;
}

Layers backward(const Layers& layers, const std::vector<Matrix>& values, Matrix gradient,
                const TrainingRules& rules) {
    Layers gradients(layers.size());
    for (std::size_t i = layers.size(); i-- > 0;) {
        const Matrix by_output = transposed(gradient), by_input = transposed(values[i]);
        gradients[i] = multiplied({by_output, rules.gradient}, {by_input, rules.forward});
        if (i > 0) pass_back(layers[i], values[i], rules, gradient);
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

std::vector<float> joined(const Layers& layers) {
    std::vector<float> all;
    for (const Matrix& layer : layers)
        all.insert(all.end(), layer.values.begin(), layer.values.end());
    return all;
}

}  // namespace

TrainingTask linear_task() {
    return {.name = "linear 128 to 64", .widths = {128, 64}, .rate = 0.4F};
}

TrainingTask network_task() {
    return {.name = "network 64, 128, 128, 32", .widths = {64, 128, 128, 32}, .rate = 0.1F};
}

TrainingRun train(const TrainingTask& task, const TrainingRules& rules) {
    const Layers teacher = random_layers(task, task.seed + 100);
    Layers layers = random_layers(task, task.seed + 200);
    TrainingRun run;
    for (int step = 0; step < task.steps; ++step) {
        const Matrix inputs = batch_of(task, step % task.batches);
        const Matrix wanted = forward(teacher, inputs, {}).back();
        const std::vector<Matrix> values = forward(layers, inputs, rules);
        Matrix gradient = zeros(wanted.rows, wanted.columns);
        run.losses.push_back(squared_error(values.back(), wanted, gradient));
        const Layers gradients = backward(layers, values, gradient, rules);
        if (step == 0) run.first_gradient = joined(gradients);
        for (std::size_t i = 0; i < layers.size(); ++i)
            for (std::size_t j = 0; j < layers[i].values.size(); ++j)
                layers[i].values[j] -= task.rate * gradients[i].values[j];
    }
    run.weights = joined(layers);
    return run;
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

std::vector<float> through(const Quantizer* quantizer, const Rows& rows) {
    std::vector<float> result(rows.values.begin(), rows.values.end());
    if (quantizer == nullptr) return result;
    const auto columns = static_cast<std::size_t>(rows.columns);
    const auto block = static_cast<std::size_t>(quantizer->block);
    std::vector<std::uint32_t> codes(block);
    std::vector<std::uint8_t> elements(block);
    for (std::size_t row = 0; row < result.size(); row += columns)
        for (std::size_t first = 0; first < columns; first += block) {
            const std::size_t lanes = std::min(block, columns - first);
            float* values = result.data() + row + first;
            for (std::size_t i = 0; i < lanes; ++i)
                codes[i] = std::bit_cast<std::uint32_t>(values[i]);
            const Code scale =
                fast::quantize_block(quantizer->rules, quantizer->format, formats::f32,
                                     codes.data(), static_cast<int>(lanes), elements.data());
            for (std::size_t i = 0; i < lanes; ++i)
                values[i] = std::bit_cast<float>(
                    fast::dequantize(quantizer->format, formats::f32, scale, Code{elements[i]})
                        .bits);
        }
    return result;
}

}  // namespace mx::accuracy
