// Gradients held against differences of the loss, and what quantizing may change.
#include "conformance/accuracy/training_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {
namespace {

TrainingTask small(TrainingTask task, int steps) {
    task.steps = steps;
    return task;
}

TrainingRun train(const TrainingTask& task, const TrainingRules& rules) {
    PlainArithmetic plain;
    return accuracy::train(task, rules, plain).value();
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
    const Quantization e4m3{*find_block_format("mxfp8-e4m3"), *find_quantizer("nv")};
    const Quantization e5m2{*find_block_format("mxfp8-e5m2"), *find_quantizer("nv")};
    const Quantization e2m1{*find_block_format("mxfp4-e2m1"), *find_quantizer("nv")};
    const TrainingTask task = small(network_task(), 1);
    const TrainingRun plain = train(task, {});
    const auto error = [&](const Quantization& quantizer) {
        return relative_distance(train(task, {&quantizer, &quantizer}).first_gradient,
                                 plain.first_gradient);
    };
    EXPECT_GT(error(e4m3), 0.01);
    EXPECT_LT(error(e4m3), 0.8 * error(e5m2));
    EXPECT_LT(error(e5m2), 0.8 * error(e2m1));
}

TEST(Training, OnlyTheOperandsNamedAreQuantized) {
    const Quantization e2m1{*find_block_format("mxfp4-e2m1"), *find_quantizer("ocp")};
    const TrainingTask task = small(linear_task(), 1);
    const TrainingRun plain = train(task, {});
    // The loss comes before any gradient.
    EXPECT_EQ(train(task, {nullptr, &e2m1}).losses, plain.losses);
    EXPECT_NE(train(task, {nullptr, &e2m1}).first_gradient, plain.first_gradient);
    EXPECT_NE(train(task, {&e2m1, nullptr}).losses, plain.losses);
}

// The rows of gemm_models that are chains of fused multiply-adds are what the plain arithmetic
// does.
TEST(Training, TheModelOfAChainHasTheBitsOfAChain) {
    const Quantization e4m3{*find_block_format("mxfp8-e4m3"), *find_quantizer("ocp")};
    const Quantization e5m2{*find_block_format("mxfp8-e5m2"), *find_quantizer("ocp")};
    const TrainingTask task = small(linear_task(), 3);
    const TrainingRun plain = train(task, {&e4m3, &e5m2});
    ModelArithmetic chain("fma-chain-mx"), hopper("hopper-mx-wgmma");
    EXPECT_FALSE(parting_of(accuracy::train(task, {&e4m3, &e5m2}, chain).value(), plain));
    const auto parting = parting_of(accuracy::train(task, {&e4m3, &e5m2}, hopper).value(), plain);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->what, "loss");
}

TEST(Training, OneBitIsAParting) {
    const TrainingRun run{.losses = {2, 1},
                          .first_outputs = {},
                          .first_gradient = {1},
                          .last_gradient = {1},
                          .weights = {0.5F}};
    EXPECT_FALSE(parting_of(run, run));
    TrainingRun other = run;
    other.losses[1] = std::nextafter(1.0, 2.0);
    EXPECT_EQ(parting_of(other, run)->step, 1u);
    other = run;
    other.weights[0] = std::nextafter(0.5F, 1.0F);
    EXPECT_EQ(parting_of(other, run)->what, "weights");
    other = run;
    other.last_gradient[0] = 2;
    EXPECT_EQ(parting_of(other, run)->what, "gradient");
}

TEST(Training, WhatAnArithmeticCannotDoIsAnError) {
    const Quantization int8{*find_block_format("mxint8"), *find_quantizer("ocp")};
    ModelArithmetic hopper("hopper-mx-wgmma");
    const auto run = accuracy::train(small(linear_task(), 1), {&int8, &int8}, hopper);
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("hopper-mx-wgmma"), std::string::npos);
}

TEST(Training, ThroughAQuantizerIsQuantizedAndBack) {
    const Quantization e2m1{*find_block_format("mxfp4-e2m1"), *find_quantizer("ocp"), 2};
    const std::vector<float> values{4, 1.2F, -6, 0.1F, 7};
    EXPECT_EQ(through({{values, 5}, &e2m1}), (std::vector<float>{4, 1, -6, 0, 6}));
    EXPECT_EQ(through({{values, 5}, nullptr}), values);
}

TEST(TrainingErrors, NameTheLimitsThatAreNotKept) {
    TrainingRun plain{.losses = {2, 1},
                      .first_outputs = {1},
                      .first_gradient = {1, 0},
                      .last_gradient = {1},
                      .weights = {3, 4}};
    EXPECT_TRUE(beyond_limits(errors_of(plain, plain)).empty());
    TrainingRun run = plain;
    run.losses = {2.2, 1};  // at any step
    EXPECT_EQ(beyond_limits(errors_of(run, plain)), std::vector<std::string>{"loss"});
    run.losses = {2.08, 1};
    run.weights = {3, 4.2F};  // 0.2 of 5
    run.last_gradient = {9};  // of other weights: no limit
    EXPECT_EQ(beyond_limits(errors_of(run, plain)), std::vector<std::string>{"weights"});
    run.weights = {3, 4.1F};
    run.first_gradient = {1, 0.06F};
    EXPECT_EQ(beyond_limits(errors_of(run, plain)), std::vector<std::string>{"first gradient"});
    run.losses[0] = std::nan("");
    EXPECT_EQ(beyond_limits(errors_of(run, plain)),
              (std::vector<std::string>{"loss", "first gradient"}));
}

}  // namespace
}  // namespace mx::accuracy
