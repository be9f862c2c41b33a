// A device in its own process that does what it should, and its ways to say no.
#include "device/host/isolated_device.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "device/host/test/plugin_under_test.hpp"

namespace mx {
namespace {

using test::ask_plugin;
using test::ConvertQuestion;

void expect_clean(const DeviceAnswer& answer, const ConvertQuestion& asked) {
    ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
    EXPECT_EQ(answer.reason, "");
    ASSERT_EQ(answer.outputs.size(), 1u);
    EXPECT_EQ(answer.outputs[0].bytes, asked.expected);
    EXPECT_EQ(answer.outputs[0].flags, std::vector<std::uint8_t>(asked.expected.size(), 0));
    EXPECT_EQ(answer.outputs[0].unwritten + answer.outputs[0].differing, 0u);
    EXPECT_TRUE(answer.findings.empty());
}

TEST(IsolatedDevice, AGoodDeviceAnswersCleanly) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("none")).value();
    for (const Shape shape :
         {Shape{3, 5}, Shape{1, 1}, Shape{0, 5}, Shape{5, 0}, Shape{700, 999}, Shape{3, 5}}) {
        const ConvertQuestion asked(shape);
        expect_clean(device.ask(asked.question), asked);
    }
    EXPECT_TRUE(device.close().ok());
}

TEST(IsolatedDevice, StridesGoThrough) {
    for (const TensorSpec& output : {TensorSpec{"e8m0", 3, 5, 8, 1}, TensorSpec{"e8m0", 3, 5, 1, 3},
                                     TensorSpec{"e8m0", 3, 5, 1, 4}}) {
        const ConvertQuestion asked({"f32", 3, 5, 1, 6}, output);
        expect_clean(ask_plugin("none", asked), asked);
    }
}

TEST(IsolatedDevice, FactsComeFromAnotherProcessThatHasTheLibrary) {
    // A plug-in that no test opens in this process, where the loader may keep it for good.
    const IsolatedDevice device = IsolatedDevice::start(test::plugin("flaky")).value();
    ASSERT_EQ(device.facts().size(), 3u);
    EXPECT_EQ(device.facts()[0].second, "test plug-in");
    const auto maps_of = [](const std::string& process) {
        std::ifstream maps("/proc/" + process + "/maps");
        return std::string((std::istreambuf_iterator<char>(maps)), {});
    };
    const std::string name = "test_plugin_flaky.so";
    EXPECT_NE(maps_of(device.facts()[1].second).find(name), std::string::npos);
    EXPECT_EQ(maps_of("self").find(name), std::string::npos);
}

TEST(IsolatedDevice, AlgorithmsComeFromTheOtherProcess) {
    Question gemm;
    gemm.operation = {.name = "gemm", .gemm = GemmOperation{}};
    IsolatedDevice device = IsolatedDevice::start(test::plugin("none")).value();
    EXPECT_EQ(device.algorithms(gemm).value(), std::vector<std::string>{""});
    gemm.outputs = {{"f32", -1, 1}};
    EXPECT_EQ(device.algorithms(gemm).error().message,
              "the tensors of the question contradict themselves");
}

TEST(IsolatedDevice, ABuiltInDeviceNeedsNoFile) {
    const auto refusing = [](std::uint32_t) -> const mx_device_api* { return nullptr; };
    const DeviceSource source{"built-in", "", refusing};
    EXPECT_EQ(IsolatedDevice::start(source).error().message,
              "device \"built-in\" refuses device ABI versions 1 to 7, which this mxcheck speaks, "
              "and serves no other up to version 16");
}

TEST(IsolatedDevice, NotSupportedHasAReason) {
    ConvertQuestion asked({1, 1});
    asked.question.operation.name = "quantize";
    const DeviceAnswer refused = ask_plugin("none", asked);
    EXPECT_EQ(refused.kind, AnswerKind::not_supported);
    EXPECT_EQ(refused.reason, "only convert");
    asked.question.operation.name = "silence";
    EXPECT_EQ(ask_plugin("none", asked).reason, "no reason given");
    const DeviceAnswer endless = ask_plugin("message_without_end");
    EXPECT_EQ(endless.kind, AnswerKind::not_supported);
    EXPECT_EQ(endless.reason, std::string(1024, 'x'));
}

TEST(IsolatedDevice, ErrorsOfTheDeviceAreSentences) {
    const auto reason = [](std::string_view flaw) {
        const DeviceAnswer answer = ask_plugin(flaw);
        EXPECT_EQ(answer.kind, AnswerKind::device_error) << flaw;
        EXPECT_TRUE(answer.outputs.empty());
        return answer.reason;
    };
    EXPECT_EQ(reason("failed_in_run"), "run answered MX_FAILED: out of luck");
    EXPECT_EQ(reason("failed_in_second_run"),
              "run (the second of two) answered MX_FAILED: no reason given");
    EXPECT_EQ(reason("lost_in_run"), "device lost in run: fell off the bus");
    EXPECT_EQ(reason("late_not_supported"),
              "run answered MX_NOT_SUPPORTED after supports had "
              "answered MX_OK: changed my mind");
    EXPECT_EQ(reason("odd_status"),
              "run answered MX_FAILED: run answered 7, which is no mx_status");
    EXPECT_EQ(reason("throw_in_run"),
              "run answered MX_FAILED: run threw a C++ exception across "
              "the C ABI: lost my way");
    EXPECT_EQ(reason("message_overrun"),
              "supports answered MX_FAILED: supports wrote past the "
              "end of its message buffer");
}

TEST(IsolatedDevice, SaysByShapesAloneWhatItDoesNotSupport) {
    const auto refusal = [](std::string_view flaw, Question question) {
        for (InputTensor& input : question.inputs) input.data = {};
        IsolatedDevice device = IsolatedDevice::start(test::plugin(flaw)).value();
        return device.refuses(question);
    };
    const ConvertQuestion good({3, 5});
    EXPECT_FALSE(refusal("none", good.question).has_value());
    Question unknown = good.question;
    unknown.operation.name = "multiply";
    ASSERT_TRUE(refusal("none", unknown).has_value());
    EXPECT_EQ(refusal("none", unknown)->kind, AnswerKind::not_supported);
    EXPECT_EQ(refusal("segfault_in_supports", good.question)->kind, AnswerKind::crash);
    // What cannot be sent is left to `ask`.
    Question malformed = good.question;
    malformed.outputs[0].rows = -1;
    EXPECT_FALSE(refusal("segfault_in_supports", malformed).has_value());
}

TEST(IsolatedDevice, AMalformedQuestionIsNotTheDevicesFault) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("none")).value();
    const ConvertQuestion good({3, 5});
    Question question = good.question;
    question.outputs[0].rows = -1;
    DeviceAnswer answer = device.ask(question);
    EXPECT_EQ(answer.kind, AnswerKind::host_error);
    EXPECT_EQ(answer.reason,
              "output 0: tensor e8m0 -1 x 5, strides 5 and 1 has a negative size "
              "or stride");
    question = good.question;
    question.outputs[0] = dense("e8m0", 1, std::int64_t{1} << 50);
    answer = device.ask(question);
    EXPECT_EQ(answer.kind, AnswerKind::host_error) << answer.reason;
    question = good.question;
    question.operation.format = std::string(1 << 20, 'x');
    EXPECT_EQ(device.ask(question).reason, "the names of the operation are too long to send");
    expect_clean(device.ask(good.question), good);
}

TEST(IsolatedDevice, StandardOutputStaysTheProgramsOwn) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    std::printf("before ");
    const DeviceAnswer answer = ask_plugin("prints_to_stdout");
    std::printf("after");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "before after");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "hello from the plug-in\n");
    EXPECT_EQ(answer.kind, AnswerKind::answered);
}

}  // namespace
}  // namespace mx
