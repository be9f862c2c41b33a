// Children that answer, end in different ways, or do not end.
#include "device/host/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace mx {
namespace {

using std::chrono::milliseconds;

ChildProcess start(const ChildProcess::Body& body) {
    return ChildProcess::start(STDERR_FILENO, body).value();
}

Reply first_reply(const ChildProcess::Body& body) {
    ChildProcess child = start(body);
    return child.receive(milliseconds(5000));
}

TEST(ChildProcess, MessagesGoBothWays) {
    ChildProcess child = start([](ParentChannel parent) {
        for (;;) {
            const std::string message = parent.receive();
            if (message.empty() || !parent.send(message + "!")) return;
        }
    });
    child.send("one");
    EXPECT_EQ(child.receive(milliseconds(5000)).text, "one!");
    const std::string large(100000, 'x');
    child.send(large);
    EXPECT_EQ(child.receive(milliseconds(5000)).text, large + "!");
    EXPECT_EQ(child.finish(milliseconds(5000)), "");
}

TEST(ChildProcess, TellsHowAChildEnded) {
    EXPECT_EQ(first_reply([](ParentChannel) { ::raise(SIGBUS); }).text,
              "killed by signal 7 (Bus error)");
    EXPECT_EQ(first_reply([](ParentChannel) { std::exit(9); }).text, "exited with code 9");
    EXPECT_EQ(first_reply([](ParentChannel) {}).text, "exited with code 0");
    EXPECT_EQ(first_reply([](ParentChannel) { throw 1; }).text, "exited with code 1");
}

// In a process of its own, for it closes every stream. The child of that prints.
TEST(ChildProcess, TheChannelNeverTakesThePlaceOfAClosedStream) {
    const pid_t without_streams = ::fork();
    if (without_streams == 0) {
        const int kept = ::dup(STDERR_FILENO);
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
        auto child = ChildProcess::start(kept, [](ParentChannel parent) {
            for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
                if (::write(stream, "noise", 5) != 5) return;
            parent.send("answer");
        });
        ::_exit(child && child.value().receive(milliseconds(5000)).text == "answer" ? 7 : 8);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(without_streams, &status, 0), without_streams);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(ChildProcess, AClosedChannelOfALivingChildIsAnEnd) {
    const Reply reply = first_reply([](ParentChannel parent) {
        ::close(parent.socket());
        for (;;) ::pause();
    });
    EXPECT_EQ(reply.kind, ReplyKind::ended);
    EXPECT_EQ(reply.text, "closed its channel to mxcheck");
}

TEST(ChildProcess, ALateChildIsKilledAndReaped) {
    ChildProcess child = start([](ParentChannel parent) {
        parent.send(std::to_string(::getpid()));
        for (;;) ::pause();
    });
    const pid_t pid = std::stoi(child.receive(milliseconds(5000)).text);
    const Reply reply = child.receive(milliseconds(30));
    EXPECT_EQ(reply.kind, ReplyKind::late);
    EXPECT_EQ(reply.text, "no answer within 30 ms");
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcess, AStubbornChildIsKilledWhenFinished) {
    ChildProcess child = start([](ParentChannel) {
        for (;;) ::pause();
    });
    EXPECT_EQ(child.finish(milliseconds(30)), "did not end within 30 ms");
}

TEST(ChildProcess, HoldsNothingOfTheProgramOpen) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    ChildProcess child = start([](ParentChannel parent) {
        parent.send("ready");
        parent.receive();
    });
    EXPECT_EQ(child.receive(milliseconds(5000)).text, "ready");
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // would wait for the child if it held the other end
    ::close(ends[0]);
}

TEST(ChildProcess, InterruptsAreForTheProgram) {
    ChildProcess child = start([](ParentChannel parent) {
        ::raise(SIGINT);
        ::raise(SIGTERM);  // which a launcher sends to all processes of a job
        parent.send(::getpgrp() == ::getpid() ? "own group" : "our group");
    });
    EXPECT_EQ(child.receive(milliseconds(5000)).text, "own group");
}

TEST(ChildProcess, WhatTheProgramDoesAtItsExitIsNotDoneByTheChild) {
    static const pid_t program = ::getpid();
    std::atexit([] {
        if (::getpid() != program) ::_exit(66);
    });
    EXPECT_EQ(first_reply([](ParentChannel) { std::exit(9); }).text, "exited with code 9");
}

TEST(ChildProcess, HandlersOfTheProgramAreNotInherited) {
    const auto before = ::signal(SIGUSR1, [](int) { ::_exit(77); });
    EXPECT_EQ(first_reply([](ParentChannel) { ::raise(SIGUSR1); }).text,
              "killed by signal 10 (User defined signal 1)");
    ::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace mx
