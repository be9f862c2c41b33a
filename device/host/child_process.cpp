// The parent's side of a forked child: fork, talk, notice its end, kill, reap.
// Used by IsolatedDevice; knows nothing of devices.
#include "device/host/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <thread>
#include <utility>

#include "device/host/child_setup.hpp"
#include "reference/base/text.hpp"

namespace mx {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How long a child may take to be gone after it closed its channel by itself, after it was asked
// to end by the destructor, and after it was killed.
constexpr milliseconds closing_time{2000};
constexpr milliseconds ending_time{2000};
constexpr milliseconds dying_time{2000};

bool send_whole(int socket, std::string_view message) {
    ssize_t sent = -1;
    do {
        sent = ::send(socket, message.data(), message.size(), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(message.size());
}

ssize_t receive_some(int socket, std::string& message, int flags) {
    ssize_t got = -1;
    do {
        got = ::recv(socket, message.data(), message.size(), flags);
    } while (got < 0 && errno == EINTR);
    return got;
}

// "" at the end of the channel and for a message too long to be one of ours.
std::string receive_whole(int socket) {
    std::string message;
    const ssize_t size = receive_some(socket, message, MSG_PEEK | MSG_TRUNC);
    if (size <= 0 || static_cast<std::size_t>(size) > message_size_max) return "";
    message.resize(static_cast<std::size_t>(size));
    if (receive_some(socket, message, 0) != size) return "";
    return message;
}

std::string describe_end(int status) {
    if (WIFEXITED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    const char* meaning = ::sigdescr_np(signal);
    return "killed by signal " + std::to_string(signal) + " (" +
           (meaning == nullptr ? "unknown" : meaning) + ")";
}

Error system_error(const std::string& what) {
    return {ErrorKind::system, what + ": " + ::strerror(errno)};
}

}  // namespace

bool ParentChannel::send(std::string_view message) const {
    return send_whole(socket_, message);
}

std::string ParentChannel::receive() const {
    return receive_whole(socket_);
}

Expected<ChildProcess> ChildProcess::start(int descriptor, const Body& body) {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return system_error("cannot open a channel to the device's process");
    }
    for (int& socket : sockets) {
        socket = beyond_standard_streams(socket);
        if (socket < 0) return system_error("cannot open a channel to the device's process");
    }
    Expected<ChildOutput> output = ChildOutput::open();
    if (!output) {
        for (const int socket : sockets) ::close(socket);
        return output.error();
    }
    // What is still buffered would be written a second time by a plug-in that flushes or exits.
    std::fflush(nullptr);
    std::cout.flush();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        const Error error = system_error("cannot start the device's process");
        ::close(sockets[0]);
        ::close(sockets[1]);
        return error;
    }
    if (pid == 0) {
        output.value().become_standard_error();
        set_up_child({parent, sockets[1], descriptor});
        try {
            body(ParentChannel(sockets[1]));
        } catch (...) {
            ::_exit(EXIT_FAILURE);
        }
        ::_exit(EXIT_SUCCESS);
    }
    ::close(sockets[1]);
    ::setpgid(pid, pid);  // the child does the same; whoever is first
    output.value().close_writing_end();
    return ChildProcess(pid, sockets[0], std::move(output).value());
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      output_(std::move(other.output_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(socket_, other.socket_);
    std::swap(output_, other.output_);
    return *this;
}

ChildProcess::~ChildProcess() {
    finish(ending_time);
}

void ChildProcess::send(std::string_view message) {
    send_whole(socket_, message);
}

Reply ChildProcess::receive(milliseconds timeout) {
    constexpr milliseconds longest_timeout = std::chrono::hours(24 * 365);
    constexpr milliseconds slice{100};
    const auto deadline = Clock::now() + std::clamp(timeout, milliseconds{0}, longest_timeout);
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
        // A child of the child may hold the channel open after the child's end: look at both.
        const bool ended = has_ended();
        const milliseconds wait = ended ? milliseconds{0} : std::clamp(left, 0 * slice, slice);
        std::array<pollfd, 2> from{pollfd{socket_, POLLIN, 0},
                                   pollfd{output_.descriptor(), POLLIN, 0}};
        ::poll(from.data(), from.size(), static_cast<int>(wait.count()));
        output_.forward();
        if (from[0].revents != 0) return read_message();
        if (ended) return {ReplyKind::ended, kill_and_reap()};
        if (left > milliseconds{0}) continue;
        kill_and_reap();
        return {ReplyKind::late, "no answer within " + to_text(timeout)};
    }
}

Reply ChildProcess::read_message() {
    std::string message = receive_whole(socket_);
    if (!message.empty()) return {ReplyKind::replied, std::move(message)};
    if (!wait_until_ended(closing_time)) {
        kill_and_reap();
        return {ReplyKind::ended, "closed its channel to mxcheck"};
    }
    return {ReplyKind::ended, kill_and_reap()};
}

std::string ChildProcess::finish(milliseconds patience) {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    if (pid_ < 0) return "";
    const bool in_time = wait_until_ended(patience);
    const std::string end = kill_and_reap();
    if (!in_time) return "did not end within " + to_text(patience);
    return end == "exited with code 0" ? "" : end;
}

// WNOWAIT leaves it to kill_and_reap to free the id: the group is killed while the id is ours.
bool ChildProcess::has_ended() const {
    siginfo_t info{};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return result != 0 ? errno != EINTR : info.si_pid == pid_;
}

bool ChildProcess::wait_until_ended(milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    while (!has_ended()) {
        if (Clock::now() >= deadline) return false;
        output_.forward();
        std::this_thread::sleep_for(milliseconds{1});
    }
    return true;
}

std::string ChildProcess::kill_and_reap() {
    if (pid_ < 0) return "ended";
    ::kill(-pid_, SIGKILL);
    if (!has_ended()) ::kill(pid_, SIGKILL);
    int status = 0;
    // A process stuck in the kernel, a lost GPU for one, may not die: then it is left behind.
    const bool reaped = wait_until_ended(dying_time) && ::waitpid(pid_, &status, WNOHANG) == pid_;
    pid_ = -1;
    output_.forward();
    return reaped ? describe_end(status) : "ended, nobody could see how";
}

}  // namespace mx
