// A command started through the shell, with a pipe to its input and one from its output; or whoever
// listens on a socket, who is no child of ours. Used by the subprocess device, in the process that
// is a device's own. Knows no protocol.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "reference/base/status.hpp"

namespace mx::pipe {

enum class Got {
    all,
    end,      // the command closed its output first
    too_much  // a line longer than allowed
};

class CommandProcess {
public:
    // Runs `sh -c command` in this process group. It dies with the calling process.
    static Expected<CommandProcess> start(const std::string& command);

    // Someone who listens on the Unix socket of that path. Nobody sees how that one ends.
    static Expected<CommandProcess> connect(const std::string& path);

    CommandProcess(CommandProcess&& other) noexcept;
    CommandProcess& operator=(CommandProcess&& other) noexcept;
    // Ends its input, waits a moment, kills.
    ~CommandProcess();

    // False when the command does not read any more. Blocks while it does not read.
    bool write(std::string_view bytes);

    // The next line without its end.
    Got read_line(std::string& line, std::size_t size_max);
    Got read(std::span<std::byte> bytes);

    // How the command ended, as waitpid tells; -1 if it still lives after `patience`.
    int wait_for_end(std::chrono::milliseconds patience);

private:
    CommandProcess(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}
    bool refill();
    void close_input();

    pid_t pid_ = -1;
    int input_ = -1;   // we write here
    int output_ = -1;  // we read here
    int status_ = -1;
    std::string buffer_;
    std::size_t used_ = 0;  // of the buffer
};

}  // namespace mx::pipe
