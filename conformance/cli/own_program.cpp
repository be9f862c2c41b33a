// See own_program.hpp.
#include "conformance/cli/own_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "conformance/cli/arguments.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/results/file_descriptor.hpp"
#include "conformance/results/results_file.hpp"

namespace mx::cli {
namespace {

using results::FileDescriptor;

struct Streams {
    int output, error;
};

// In the child, after the fork: what is called here must be safe in a signal handler.
[[noreturn]] void become(char* const* arguments, Streams streams, pid_t parent) {
    ::setpgid(0, 0);  // an interrupt from the terminal reaches it through the parent alone
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(exit_incomplete);
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(streams.output, 1);
    ::dup2(streams.error, 2);
    ::execv("/proc/self/exe", arguments);
    ::_exit(127);
}

// What a child writes to stderr goes on to ours; the last line of it is kept.
class Tee {
public:
    void take(std::string_view bytes) {
        [[maybe_unused]] const ssize_t written = ::write(2, bytes.data(), bytes.size());
        text_ += bytes;
        constexpr std::size_t kept = 4096;
        if (text_.size() > 2 * kept) text_.erase(0, text_.size() - kept);
    }
    std::string last_line() const {
        const std::size_t end = text_.find_last_not_of("\r\n");
        if (end == std::string::npos) return "";
        const std::size_t begin = text_.find_last_of("\r\n", end);
        const std::string line =
            text_.substr(begin == std::string::npos ? 0 : begin + 1,
                         end - (begin == std::string::npos ? std::size_t(-1) : begin));
        const std::string name = "mxcheck: ";
        return line.starts_with(name) ? line.substr(name.size()) : line;
    }

private:
    std::string text_;
};

void pass_on(int from, pid_t child, Tee& tee) {
    bool told = false;
    std::array<char, 4096> chunk{};
    while (true) {
        if (interrupted() && !told) {
            ::kill(child, SIGTERM);
            told = true;
        }
        pollfd ready{from, POLLIN, 0};
        if (::poll(&ready, 1, 200) <= 0) continue;
        const ssize_t count = ::read(from, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        tee.take({chunk.data(), static_cast<std::size_t>(count)});
    }
}

ProgramEnd end_of(pid_t child, const Tee& tee) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(status))
        return {exit_self_test, "killed by signal " + std::to_string(WTERMSIG(status)),
                tee.last_line()};
    return {WEXITSTATUS(status), "", tee.last_line()};
}

}  // namespace

Expected<ProgramEnd> run_own_program(const std::vector<std::string>& arguments,
                                     const std::string& stdout_path) {
    const FileDescriptor output(
        ::open(stdout_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!output.is_open()) return results::system_error(stdout_path, "cannot be written", errno);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return results::system_error("pipe", "", errno);
    const FileDescriptor ours(ends[0]);
    FileDescriptor theirs(ends[1]);
    std::vector<std::string> words{"mxcheck"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return results::system_error("fork", "no process can be made", errno);
    if (child == 0) become(pointers.data(), {output.number(), theirs.number()}, parent);
    theirs = FileDescriptor();
    Tee tee;
    pass_on(ours.number(), child, tee);
    return end_of(child, tee);
}

}  // namespace mx::cli
