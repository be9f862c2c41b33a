// Every way a check can end, in a child: right, wrong, thrown, crashed, without end; and what the
// check of this build costs.
#include "conformance/oracle/isolated_check.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>

#include "conformance/oracle/oracle_status.hpp"

namespace mx {
namespace {

// Slow enough that the time left for the next check is less than the whole.
std::string right() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return "";
}

// What is said of a second check after one that is right.
std::string said_of(std::string (*run)(), const CheckLimits& limits = {}) {
    const OracleCheck checks[] = {{"exact decode", right}, {"exact round", run}};
    return fault_in_child(checks, limits);
}

std::string sentence(const std::string& wrong) {
    return "this build's oracle is broken: exact round: " + wrong + "; built by " +
           oracle_built_by + "; nothing was judged";
}

TEST(CheckOfThisBuild, IsRight) {
    EXPECT_EQ(isolated_oracle_fault(), "");
    EXPECT_TRUE(oracle_status());
    EXPECT_GT(oracle_answer_count(), 300);
    EXPECT_EQ(said_of(right), "");
}

TEST(CheckOfThisBuild, QuotesAWrongAnswer) {
    const auto wrong = [] { return std::string("1 gives 0x39, expected 0x38"); };
    EXPECT_EQ(said_of(wrong), sentence("1 gives 0x39, expected 0x38"));
}

// What needs a child of its own. An emulator has a thread in this process, so that none is forked.
class IsolatedCheck : public testing::Test {
protected:
    void SetUp() override {
        if (std::getenv("MX_EMULATED") != nullptr)
            GTEST_SKIP() << "the processor is emulated, by a thread of this process";
    }
};

TEST_F(IsolatedCheck, MemoryThatIsNotThere) {
    EXPECT_EQ(said_of([]() -> std::string { throw std::bad_alloc(); }),
              sentence("threw std::bad_alloc"));
#if !defined(__SANITIZE_ADDRESS__)  // it ends a process that asks for so much
    // Clang 14 would make the string itself, and end in that.
    static volatile std::size_t size = std::size_t{1} << 32;
    EXPECT_EQ(said_of([] { return std::string(size, 'x'); }), sentence("threw std::bad_alloc"));
#endif
    EXPECT_EQ(said_of([]() -> std::string { throw 5; }), sentence("threw what is no exception"));
}

TEST_F(IsolatedCheck, ACrash) {
    const auto crash = []() -> std::string {
        ::raise(SIGSEGV);
        return "";
    };
    EXPECT_EQ(said_of(crash), sentence("killed by signal 11 (Segmentation fault)"));
    EXPECT_EQ(said_of([]() -> std::string { std::abort(); }),
              sentence("killed by signal 6 (Aborted)"));
    EXPECT_EQ(said_of([]() -> std::string { ::_exit(0); }), sentence("exited with code 0"));
}

TEST_F(IsolatedCheck, ALoopWithoutEnd) {
    const auto loop = []() -> std::string {
        volatile bool goes_on = true;
        while (goes_on) {
        }
        return "";
    };
    EXPECT_EQ(said_of(loop, {.processor = std::chrono::seconds(1)}),
              sentence("killed by signal 24 (CPU time limit exceeded)"));
}

TEST_F(IsolatedCheck, AWaitWithoutEnd) {
    const auto wait = []() -> std::string {
        for (;;) ::pause();
    };
    EXPECT_EQ(said_of(wait, {.time = std::chrono::seconds(1)}), sentence("no answer within 1 s"));
}

TEST_F(IsolatedCheck, WhatAChildPrintsIsNotSeen) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto loud = []() -> std::string {
        std::puts("loud");
        std::fputs("loud", stderr);
        std::fflush(nullptr);
        return "";
    };
    EXPECT_EQ(said_of(loud), "");
    EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
}

// With threads there is no fork: what is wrong is found in this process.
pid_t asked_in;
TEST_F(IsolatedCheck, RunsHereBesideThreads) {
    const auto where = []() -> std::string {
        asked_in = ::getpid();
        throw std::bad_alloc();
    };
    EXPECT_EQ(said_of(where), sentence("threw std::bad_alloc"));
    EXPECT_EQ(asked_in, 0);
    std::jthread other([](const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    EXPECT_EQ(said_of(where), sentence("threw std::bad_alloc"));
    EXPECT_EQ(asked_in, ::getpid());
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)  // of builds that are optimised
double processor_milliseconds(int who) {
    rusage used{};
    ::getrusage(who, &used);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

// Of this process and its child. One run of many within the limit is enough: a busy machine makes
// the others longer, and nothing makes one shorter than it is.
TEST_F(IsolatedCheck, CostsLessThanThreeMilliseconds) {
    const auto now = [] {
        return processor_milliseconds(RUSAGE_SELF) + processor_milliseconds(RUSAGE_CHILDREN);
    };
    double least = 1e9;
    for (int run = 0; run < 1000 && least >= 3; ++run) {
        const double before = now();
        ASSERT_EQ(fault_in_child(oracle_checks(), {}), "");
        least = std::min(least, now() - before);
    }
    RecordProperty("milliseconds", std::to_string(least));
    EXPECT_LT(least, 3.0);
}
#endif

}  // namespace
}  // namespace mx
