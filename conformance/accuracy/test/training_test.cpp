// Gradients held against differences of the loss, and what quantizing may change.
#include "conformance/accuracy/training.hpp"

#include <gtest/gtest.h>

#include "reference/spec/dialects.hpp"

namespace mx::accuracy {
namespace {

TrainingTask small(TrainingTask task, int steps) {
    task.steps = steps;
    return task;
}

TEST(Training, LossesFallWithoutQuantizing) {
    for (const TrainingTask& task : {linear_task(), network_task()}) {
        const TrainingRun run = train(task, {});
        EXPECT_LT(run.losses.back(), run.losses.front() / 5) << task.name;
        EXPECT_EQ(run.losses.size(), 200u);
    }
}

// One step along the gradient lowers the loss of the same batch by rate * |gradient|^2 for small
// rates; a wrong sign or a missing ReLU mask in any layer breaks that.
TEST(Training, TheGradientIsTheSlopeOfTheLoss) {
    for (TrainingTask task : {linear_task(), network_task()}) {
        task.steps = 2;
        task.batches = 1;
        task.rate = 1e-3F;
        const TrainingRun run = train(task, {});
        double squared = 0;
        for (const float slope : run.first_gradient) squared += double{slope} * slope;
        const double fall = (run.losses[0] - run.losses[1]) / double{task.rate};
        EXPECT_NEAR(fall / squared, 1, 0.01) << task.name;
    }
}

TEST(Training, FormatsThatHoldTheValuesBetterStayNearer) {
    const Quantizer e4m3{*find_block_format("mxfp8-e4m3"), *find_dialect("nv")};
    const Quantizer e5m2{*find_block_format("mxfp8-e5m2"), *find_dialect("nv")};
    const Quantizer e2m1{*find_block_format("mxfp4-e2m1"), *find_dialect("nv")};
    const TrainingTask task = small(network_task(), 1);
    const TrainingRun plain = train(task, {});
    const auto error = [&](const Quantizer& quantizer) {
        return relative_distance(train(task, {&quantizer, &quantizer}).first_gradient,
                                 plain.first_gradient);
    };
    EXPECT_GT(error(e4m3), 0.01);
    EXPECT_LT(error(e4m3), 0.8 * error(e5m2));
    EXPECT_LT(error(e5m2), 0.8 * error(e2m1));
}

TEST(Training, OnlyTheOperandsNamedAreQuantized) {
    const Quantizer e2m1{*find_block_format("mxfp4-e2m1"), *find_dialect("ocp")};
    const TrainingTask task = small(linear_task(), 1);
    const TrainingRun plain = train(task, {});
    // The loss comes before any gradient.
    EXPECT_EQ(train(task, {nullptr, &e2m1}).losses, plain.losses);
    EXPECT_NE(train(task, {nullptr, &e2m1}).first_gradient, plain.first_gradient);
    EXPECT_NE(train(task, {&e2m1, nullptr}).losses, plain.losses);
}

TEST(Training, ThroughAQuantizerIsQuantizedAndBack) {
    const Quantizer e2m1{*find_block_format("mxfp4-e2m1"), *find_dialect("ocp"), 2};
    const std::vector<float> values{4, 1.2F, -6, 0.1F, 7};
    EXPECT_EQ(through(&e2m1, {values, 5}), (std::vector<float>{4, 1, -6, 0, 6}));
    EXPECT_EQ(through(nullptr, {values, 5}), values);
}

}  // namespace
}  // namespace mx::accuracy
