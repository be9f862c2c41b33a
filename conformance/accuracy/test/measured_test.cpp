// Which rows are measured, what stands beside what, and which of them can be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/accuracy/measured_blocks.hpp"
#include "conformance/accuracy/measured_products.hpp"
#include "conformance/accuracy/trainings.hpp"

namespace mx::accuracy {
namespace {

using Names = std::vector<std::string>;

std::string refusal_of(const Status& status) {
    return status ? "none" : status.error().message;
}

AccuracyRequest request_of(const std::string& format) {
    AccuracyRequest request;
    request.formats = {format};
    request.data = {"normal"};
    request.elements = 256;
    return request;
}

NamedClient refusing() {
    Client client;
    client.ask = [](const Question&) {
        DeviceAnswer answer;
        answer.kind = AnswerKind::not_supported;
        answer.reason = "not today";
        return answer;
    };
    return {client, "refuser"};
}

std::vector<MeasuredBlocks> measured(const AccuracyRequest& request, const NamedClient* subject) {
    const auto quantizers = quantizers_of(request);
    const auto samples = samples_of(request);
    EXPECT_TRUE(quantizers && samples);
    auto all = measure_blocks(samples.value(), quantizers.value(), subject);
    EXPECT_TRUE(all);
    return std::move(all).value();
}

TEST(MeasuredBlocks, TheDialectsOfAFormatAreThoseThatQuantizeIt) {
    EXPECT_EQ(usual_dialects("mxfp8-e4m3"), (Names{"ocp", "nv"}));
    EXPECT_EQ(usual_dialects("nvfp4").size(), 1u);
    AccuracyRequest named = request_of("mxfp8-e4m3");
    named.dialects = {"nv"};
    EXPECT_EQ(named.dialects_for("mxfp8-e4m3"), Names{"nv"});
}

TEST(MeasuredBlocks, EachStandsBesideTheFirstOfItsFormat) {
    AccuracyRequest request = request_of("mxfp8-e4m3");
    request.formats.emplace_back("mxfp4-e2m1");
    request.stochastic = true;
    const std::vector<MeasuredBlocks> all = measured(request, nullptr);
    ASSERT_EQ(all.size(), 8u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].beside.has_value(), i % 4 != 0) << i;
        EXPECT_EQ(all[i].rounding, i % 2 == 0 ? "of the dialect" : "stochastic") << i;
        if (all[i].beside) {
            EXPECT_EQ(all[i].beside->dialect, "ocp");
        }
    }
    EXPECT_EQ(judged(all).compared, 0u);  // there is no device
}

TEST(MeasuredBlocks, WhatADeviceDoesNotDoIsARowThatJudgesNothing) {
    const NamedClient subject = refusing();
    const std::vector<MeasuredBlocks> all = measured(request_of("mxfp8-e4m3"), &subject);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1].source, "refuser");
    EXPECT_NE(all[1].reason, "");
    EXPECT_EQ(record_of(all[1]).elements, 0u);
    EXPECT_EQ(judged(all).compared, 0u);
}

TEST(MeasuredBlocks, OnlyADeviceCanBeWrong) {
    std::vector<MeasuredBlocks> all = measured(request_of("mxfp8-e4m3"), nullptr);
    ASSERT_GT(all[1].beside->changes.values, 0u);
    EXPECT_EQ(judged(all).wrong, 0u);
    all[1].source = "device";
    EXPECT_EQ(judged(all).compared, 256u);
    EXPECT_GT(judged(all).wrong, 0u);
}

TEST(MeasuredBlocks, BlocksOfAnotherSizeAreOfMxAlone) {
    AccuracyRequest request = request_of("nvfp4");
    request.block = 64;
    EXPECT_FALSE(quantizers_of(request));
    request.formats = {"mxfp8-e4m3"};
    EXPECT_TRUE(quantizers_of(request));
    request.block = 48;
    EXPECT_FALSE(quantizers_of(request));
    request.input = "file.npy";
    EXPECT_FALSE(samples_of(request));  // and --data
}

MeasuredProducts products(const std::string& format, const NamedClient* subject) {
    AccuracyRequest request = request_of(format);
    request.depths = {"64"};
    request.side = 4;
    const auto whole = completed(request);
    EXPECT_TRUE(whole);
    auto measured = measure_products(whole.value(), subject);
    EXPECT_TRUE(measured);
    return std::move(measured).value();
}

TEST(MeasuredProducts, ModelsLieInTheirOwnBoundsAndTheExactSumInTheWeakest) {
    const MeasuredProducts measured = products("bf16", nullptr);
    ASSERT_FALSE(measured.all.empty());
    EXPECT_EQ(measured.all.front().name, "exact");
    EXPECT_EQ(measured.all.front().bound_of, "any");
    for (std::size_t i = 1; i < measured.all.size(); ++i)
        EXPECT_EQ(measured.all[i].name, measured.all[i].bound_of);
    const Judged models = judged(measured.all, Whose::models);
    EXPECT_EQ(models.compared, 16 * measured.all.size());
    EXPECT_EQ(models.wrong, 0u);
    EXPECT_NE(measured.refusal, "");  // of a row that does not take these factors
}

TEST(MeasuredProducts, OfADeviceItsOwnOutputsAloneCount) {
    const NamedClient subject = refusing();
    MeasuredProducts measured = products("bf16", &subject);
    ASSERT_EQ(measured.all.size(), 2u);  // the exact sum, and the device
    EXPECT_NE(measured.all.back().reason, "");
    EXPECT_EQ(judged(measured.all, Whose::device).compared, 0u);
    measured.all.front().accuracy.beyond = 3;
    EXPECT_EQ(judged(measured.all, Whose::device).wrong, 0u);
    EXPECT_EQ(judged(measured.all, Whose::models).wrong, 3u);
}

TEST(MeasuredProducts, NamesThatNoTableHasAreRefused) {
    AccuracyRequest request = request_of("mxfp9");
    EXPECT_FALSE(completed(request));
    request = request_of("bf16");
    request.side = 0;
    EXPECT_FALSE(completed(request));
    EXPECT_TRUE(completed(AccuracyRequest{}));
}

TEST(Trainings, EveryStandsForOneDialectOfEachScaleRule) {
    const auto quantizers = training_quantizers({});
    ASSERT_TRUE(quantizers);
    std::set<std::string> dialects;
    for (const TrainingQuantizers& each : quantizers.value()) {
        EXPECT_EQ(each.forward.format.name, "mxfp8-e4m3");
        EXPECT_EQ(each.forward.rules.name, each.gradient.rules.name);
        dialects.insert(std::string(each.forward.rules.name));
    }
    EXPECT_GT(dialects.size(), 1u);
    EXPECT_EQ(quantizers.value().size(), 2 * dialects.size());  // E4M3 and E5M2 gradients
    TrainingRequest twice;
    twice.dialects = {"ocp", "ocp"};
    EXPECT_EQ(training_quantizers(twice).value().size(), 2u);
}

TEST(Trainings, AreRefusedWhereNoDialectHasAllTheFormats) {
    TrainingRequest request;
    request.gradients = {"nvfp4"};
    EXPECT_NE(
        refusal_of(training_quantizers(request) ? success() : training_quantizers(request).error())
            .find("no dialect quantizes"),
        std::string::npos);
    request.gradients = {"mxfp9"};
    EXPECT_FALSE(training_quantizers(request));
    request = {};
    request.steps = 0;
    EXPECT_FALSE(training_quantizers(request));
}

// The oracle's own run, as if a machine had made it.
TEST(Trainings, TheFirstIsBinary32AndTheOthersAreMeasuredAgainstIt) {
    TrainingRequest request;
    request.dialects = {"ocp"};
    request.gradients = {"mxfp8-e4m3"};
    request.steps = 3;
    const auto all = train_all(request, training_quantizers(request).value(), {});
    ASSERT_TRUE(all);
    ASSERT_EQ(all.value().size(), 4u);  // two tasks
    for (std::size_t i = 0; i < 4; i += 2) {
        EXPECT_EQ(all.value()[i].forward, "f32");
        EXPECT_EQ(all.value()[i].errors.weights, 0);
        EXPECT_GT(all.value()[i + 1].errors.weights, 0);
        EXPECT_EQ(record_of(all.value()[i + 1]).losses.size(), 3u);
    }
}

}  // namespace
}  // namespace mx::accuracy
