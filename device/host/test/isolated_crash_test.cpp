// Devices that crash, hang or leave: an answer each time, and the next question is asked again.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "device/host/isolated_device.hpp"
#include "device/host/test/plugin_under_test.hpp"
#include "device/host/test/temporary_file.hpp"

namespace mx {
namespace {

using test::ask_plugin;
using test::ConvertQuestion;

std::string crash_reason(std::string_view flaw) {
    const DeviceAnswer answer = ask_plugin(flaw);
    EXPECT_EQ(answer.kind, AnswerKind::crash) << flaw << ": " << answer.reason;
    return answer.reason;
}

TEST(IsolatedCrash, EachWayToEndIsTold) {
    EXPECT_EQ(crash_reason("segfault_in_run"), "killed by signal 11 (Segmentation fault) in run");
    EXPECT_EQ(crash_reason("segfault_in_supports"),
              "killed by signal 11 (Segmentation fault) in supports");
    EXPECT_EQ(crash_reason("segfault_in_second_run"),
              "killed by signal 11 (Segmentation fault) in run (the second of two)");
    EXPECT_EQ(crash_reason("write_far_past_end"),
              "killed by signal 11 (Segmentation fault) in run");
    EXPECT_EQ(crash_reason("abort_in_run"), "killed by signal 6 (Aborted) in run");
    EXPECT_EQ(crash_reason("exit_in_run"), "exited with code 3 in run");
}

TEST(IsolatedCrash, AHangIsATimeout) {
    // Long enough for `supports`, which does not hang, on a machine that is busy.
    const Limits limits{.call = std::chrono::seconds(2)};
    const DeviceAnswer answer = ask_plugin("hang_in_run", ConvertQuestion({3, 5}), limits);
    EXPECT_EQ(answer.kind, AnswerKind::timeout);
    EXPECT_EQ(answer.reason, "no answer within 2 s in run");
}

TEST(IsolatedCrash, AnEndIsSeenThoughAChildOfThePluginHoldsTheChannel) {
    Limits patient;
    patient.call = std::chrono::seconds(20);
    IsolatedDevice device =
        IsolatedDevice::start(test::plugin("child_left_in_run"), patient).value();
    const ConvertQuestion asked({1, 1});
    const auto begin = std::chrono::steady_clock::now();
    const DeviceAnswer answer = device.ask(asked.question);
    EXPECT_EQ(answer.kind, AnswerKind::crash);
    EXPECT_EQ(answer.reason, "exited with code 5 in run");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(IsolatedCrash, NonsenseOnTheChannelIsADeviceError) {
    const DeviceAnswer answer = ask_plugin("scribble_on_channel");
    EXPECT_EQ(answer.kind, AnswerKind::device_error);
    EXPECT_EQ(answer.reason, "run wrote to the channel between the device's process and mxcheck");
}

TEST(IsolatedCrash, TheNextQuestionIsAnswered) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("segfault_on_request")).value();
    const ConvertQuestion good({3, 5});
    ConvertQuestion bad({3, 5});
    bad.question.operation.dialect = "segfault";
    for (int round = 0; round < 4; ++round) {
        EXPECT_EQ(device.ask(bad.question).kind, AnswerKind::crash);
        const std::string before = device.facts()[1].second;
        const DeviceAnswer answer = device.ask(good.question);
        ASSERT_EQ(answer.kind, AnswerKind::answered) << answer.reason;
        EXPECT_EQ(answer.outputs[0].bytes, good.expected);
        EXPECT_NE(device.facts()[1].second, before) << "the facts are those of the new process";
    }
}

TEST(IsolatedCrash, ADeviceLostIsOpenedAnew) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("lost_in_run")).value();
    const ConvertQuestion asked({1, 1});
    const std::string before = device.facts()[1].second;
    device.ask(asked.question);
    device.ask(asked.question);
    EXPECT_NE(device.facts()[1].second, before);
}

TEST(IsolatedCrash, ADeviceThatOpensNoMoreIsGivenUp) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("segfault_on_request")).value();
    ConvertQuestion asked({3, 5});
    asked.question.operation.dialect = "segfault";
    const test::TemporaryFile attempts("");
    ::setenv("TEST_PLUGIN_BREAKS_OPEN", attempts.path().c_str(), 1);
    EXPECT_EQ(device.ask(asked.question).kind, AnswerKind::crash);
    const DeviceAnswer refused = device.ask(asked.question);
    EXPECT_EQ(attempts.size(), 3);
    device.ask(asked.question);
    EXPECT_EQ(attempts.size(), 3) << "it is not tried again";
    ::unsetenv("TEST_PLUGIN_BREAKS_OPEN");
    EXPECT_EQ(refused.kind, AnswerKind::device_error);
    EXPECT_EQ(refused.reason, "could not be opened again in 3 attempts: device \"" +
                                  test::plugin("segfault_on_request").path +
                                  "\" did not open: killed by signal 11 (Segmentation fault) in "
                                  "open");
    EXPECT_EQ(device.ask(asked.question).reason, refused.reason);
}

TEST(IsolatedCrash, ACrashAtTheEndIsTold) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("segfault_in_close")).value();
    const Status closed = device.close();
    ASSERT_FALSE(closed.ok());
    EXPECT_NE(closed.error().message.find("did not close: killed by signal 11"), std::string::npos);
    EXPECT_TRUE(device.close().ok());
}

TEST(IsolatedCrash, AHangAtTheEndIsTold) {
    const Limits limits{.call = std::chrono::seconds(1)};
    IsolatedDevice device = IsolatedDevice::start(test::plugin("hang_in_close"), limits).value();
    const Status closed = device.close();
    ASSERT_FALSE(closed.ok());
    EXPECT_NE(closed.error().message.find("did not close: did not end within 1 s"),
              std::string::npos);
}

TEST(IsolatedCrash, AnInterruptDoesNotReachTheDevice) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("none")).value();
    const ConvertQuestion asked({3, 5});
    ASSERT_EQ(::kill(std::stoi(device.facts()[1].second), SIGINT), 0);
    EXPECT_EQ(device.ask(asked.question).kind, AnswerKind::answered);
}

// In a process of its own: opens a device that hangs, tells its id, asks.
[[noreturn]] void ask_and_hang(int descriptor) {
    IsolatedDevice device = IsolatedDevice::start(test::plugin("hang_in_run")).value();
    const pid_t pid = std::stoi(device.facts()[1].second);
    const ssize_t written = ::write(descriptor, &pid, sizeof pid);
    const ConvertQuestion asked({1, 1});
    if (written == sizeof pid) device.ask(asked.question);
    ::_exit(0);
}

// The plug-in gives its process this name when it begins to hang.
bool hangs_soon(pid_t device) {
    for (int i = 0; i < 3000; ++i) {
        std::ifstream name("/proc/" + std::to_string(device) + "/comm");
        std::string said;
        if (std::getline(name, said) && said == "hanging") return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST(IsolatedCrash, AHangingDeviceDiesWithTheProgram) {
    // Makes this process the parent of orphans, so that it can see the device's process end.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t program = ::fork();
    if (program == 0) ask_and_hang(ends[1]);
    pid_t device = -1;
    ASSERT_EQ(::read(ends[0], &device, sizeof device), static_cast<ssize_t>(sizeof device));
    EXPECT_TRUE(hangs_soon(device));
    ::kill(program, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(program, &status, 0), program);
    pid_t ended = 0;
    for (int i = 0; i < 3000 && ended == 0; ++i) {
        ended = ::waitpid(device, &status, WNOHANG);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (ended == 0) ::kill(device, SIGKILL);
    EXPECT_EQ(ended, device);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace mx
