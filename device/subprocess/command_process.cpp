// fork, exec and pipes; see command_process.hpp.
#include "device/subprocess/command_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace mx::pipe {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds ending_time{1000};
constexpr std::size_t buffer_size = 1 << 16;

Error system_error(const std::string& what) {
    return {ErrorKind::system, what + ": " + std::strerror(errno)};
}

// What the child does between fork and exec; only calls that are safe there.
[[noreturn]] void become(const char* command, int input, int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::signal(SIGPIPE, SIG_DFL);
    // dup2 leaves a descriptor that is already in place closed at exec.
    const int in = input == STDOUT_FILENO ? ::dup(input) : input;
    if (::dup2(output, STDOUT_FILENO) < 0 || ::dup2(in, STDIN_FILENO) < 0) ::_exit(127);
    ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    ::_exit(127);
}

}  // namespace

Expected<CommandProcess> CommandProcess::connect(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        return Error{ErrorKind::system, "a socket's path has 1 to " +
                                            std::to_string(sizeof address.sun_path - 1) +
                                            " bytes, and this one " + std::to_string(path.size())};
    std::memcpy(address.sun_path, path.data(), path.size());
    const int ours = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* named = reinterpret_cast<const sockaddr*>(&address);
    const bool connected = ours >= 0 && ::connect(ours, named, sizeof address) == 0;
    const int again = connected ? ::fcntl(ours, F_DUPFD_CLOEXEC, 0) : -1;
    if (again < 0) {
        const Error error = system_error("cannot connect to the socket " + path);
        if (ours >= 0) ::close(ours);
        return error;
    }
    return CommandProcess(-1, ours, again);
}

Expected<CommandProcess> CommandProcess::start(const std::string& command) {
    std::array<int, 2> requests{-1, -1};
    std::array<int, 2> answers{-1, -1};
    const auto close_all = [&] {
        for (const int end : {requests[0], requests[1], answers[0], answers[1]})
            if (end >= 0) ::close(end);
    };
    const pid_t parent = ::getpid();
    pid_t pid = -1;
    if (::pipe2(requests.data(), O_CLOEXEC) == 0 && ::pipe2(answers.data(), O_CLOEXEC) == 0)
        pid = ::fork();
    if (pid < 0) {
        const Error error = system_error("cannot start a command");
        close_all();
        return error;
    }
    if (pid == 0) become(command.c_str(), requests[0], answers[1], parent);
    ::close(requests[0]);
    ::close(answers[1]);
    return CommandProcess(pid, requests[1], answers[0]);
}

CommandProcess::CommandProcess(CommandProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      status_(other.status_),
      buffer_(std::move(other.buffer_)),
      used_(other.used_) {}

CommandProcess& CommandProcess::operator=(CommandProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(input_, other.input_);
    std::swap(output_, other.output_);
    std::swap(status_, other.status_);
    std::swap(buffer_, other.buffer_);
    std::swap(used_, other.used_);
    return *this;
}

CommandProcess::~CommandProcess() {
    close_input();
    if (pid_ >= 0 && wait_for_end(ending_time) < 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, &status_, 0);
    }
    if (output_ >= 0) ::close(output_);
}

void CommandProcess::close_input() {
    if (input_ >= 0) ::close(std::exchange(input_, -1));
}

bool CommandProcess::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(input_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Only called when everything in the buffer is used.
bool CommandProcess::refill() {
    buffer_.resize(buffer_size);
    used_ = 0;
    ssize_t got = -1;
    do {
        got = ::read(output_, buffer_.data(), buffer_.size());
    } while (got < 0 && errno == EINTR);
    buffer_.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return got > 0;
}

Got CommandProcess::read_line(std::string& line, std::size_t size_max) {
    line.clear();
    for (;;) {
        const std::size_t end = buffer_.find('\n', used_);
        const std::size_t stop = std::min(end, buffer_.size());
        if (line.size() + stop - used_ > size_max) return Got::too_much;
        line.append(buffer_, used_, stop - used_);
        used_ = stop;
        if (end != std::string::npos) {
            ++used_;
            return Got::all;
        }
        if (!refill()) return Got::end;
    }
}

Got CommandProcess::read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        if (used_ == buffer_.size() && !refill()) return Got::end;
        const std::size_t count = std::min(bytes.size(), buffer_.size() - used_);
        std::memcpy(bytes.data(), buffer_.data() + used_, count);
        used_ += count;
        bytes = bytes.subspan(count);
    }
    return Got::all;
}

int CommandProcess::wait_for_end(milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    while (pid_ >= 0) {
        if (::waitpid(pid_, &status_, WNOHANG) == pid_) {
            pid_ = -1;
            break;
        }
        if (Clock::now() >= deadline) return -1;
        std::this_thread::sleep_for(milliseconds{1});
    }
    return status_;
}

}  // namespace mx::pipe
