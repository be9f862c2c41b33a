// See workers.hpp.
#include "conformance/session/workers.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "conformance/session/interrupt.hpp"
#include "device/host/child_setup.hpp"

namespace mx::session {
namespace {

// A line that tells of an error: this, the kind of an error as a letter, and its message.
constexpr char error_mark = '!';
constexpr std::array error_kinds{ErrorKind::bad_input, ErrorKind::device, ErrorKind::system,
                                 ErrorKind::oracle};

std::string line_of_error(const Error& error) {
    std::string line{error_mark};
    for (std::size_t i = 0; i < error_kinds.size(); ++i)
        if (error_kinds[i] == error.kind) line += static_cast<char>('0' + i);
    return line + error.message + "\n";
}

// A line that begins with the mark.
Error error_of(std::string_view line) {
    const std::size_t kind = line.size() > 1 ? static_cast<std::size_t>(line[1] - '0') : 0;
    return {error_kinds.at(kind), std::string(line.substr(2))};
}

bool write_whole(int pipe, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(pipe, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

struct Share {
    std::size_t first;
    std::size_t step;
};

// The lock of the results file, for one, must not outlive the program.
void close_all_but(int pipe) {
    const auto kept = static_cast<unsigned>(pipe);
    constexpr unsigned after_standard_error = 3;
    if (kept > after_standard_error) close_descriptors({after_standard_error, kept - 1});
    close_descriptors({kept + 1, std::numeric_limits<unsigned>::max()});
}

// All that a worker does. Ctrl-C is for the program, which then ends the workers.
void work(int pipe, const std::vector<std::size_t>& remaining, Share share,
          const std::function<Expected<Workers::Work>()>& prepare) {
    close_all_but(pipe);
    // Tensors of one case after the other: memory that went back to the kernel in between would be
    // filled with zeros each time.
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    const auto prepared = prepare();
    if (!prepared) {
        write_whole(pipe, line_of_error(prepared.error()));
        return;
    }
    for (std::size_t i = share.first; i < remaining.size(); i += share.step) {
        const auto result = prepared.value().run(remaining[i]);
        const std::string line = result ? result.value() : line_of_error(result.error());
        if (!write_whole(pipe, line) || !result) return;
    }
    const Status closed = prepared.value().close ? prepared.value().close() : success();
    write_whole(pipe, closed ? "closed\n" : line_of_error(closed.error()));
}

Error system_error(const char* what) {
    return {ErrorKind::system, std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Expected<Workers> Workers::start(std::size_t count, const std::vector<std::size_t>& remaining,
                                 const std::function<Expected<Work>()>& prepare) {
    Workers workers;
    workers.expected_ = remaining.size();
    for (std::size_t i = 0; i < count; ++i) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
        results::FileDescriptor to_read(ends[0]), to_write(ends[1]);
        const pid_t parent = ::getpid();
        const pid_t process = ::fork();
        if (process < 0) return system_error("cannot start a process");
        if (process == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() == parent) work(to_write.number(), remaining, {i, count}, prepare);
            ::_exit(0);
        }
        workers.workers_.push_back({process, std::move(to_read), {}});
    }
    return workers;
}

Workers::~Workers() {
    if (returned_ < expected_)
        for (const Worker& worker : workers_) ::kill(worker.process, SIGKILL);
    for (const Worker& worker : workers_) ::waitpid(worker.process, nullptr, 0);
}

std::optional<std::string> Workers::read_line(Worker& worker) {
    std::array<char, 65536> chunk;
    std::size_t end = worker.read.find('\n');
    while (end == std::string::npos) {
        const ssize_t count = ::read(worker.pipe.number(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR && !interrupted()) continue;
        if (count <= 0) return std::nullopt;
        const std::size_t before = worker.read.size();
        worker.read.append(chunk.data(), static_cast<std::size_t>(count));
        end = worker.read.find('\n', before);
    }
    const std::string line = worker.read.substr(0, end);
    worker.read.erase(0, end + 1);
    return line;
}

Expected<std::optional<std::string>> Workers::next() {
    auto line = read_line(workers_[returned_ % workers_.size()]);
    if (!line) {
        lost_ = !interrupted();
        return std::optional<std::string>();
    }
    ++returned_;
    if (line->front() == error_mark) return error_of(*line);
    return line;
}

Status Workers::close() {
    for (Worker& worker : workers_)
        if (const auto line = read_line(worker); line && line->front() == error_mark)
            return error_of(*line);
    return success();
}

}  // namespace mx::session
