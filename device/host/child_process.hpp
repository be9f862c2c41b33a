// A forked child of this process and a channel of whole messages to it. Used by IsolatedDevice;
// knows nothing of devices.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "device/host/child_output.hpp"
#include "reference/base/status.hpp"

namespace mx {

// Longer messages cannot be sent: the kernel's own limit is not much higher.
inline constexpr std::size_t message_size_max = 128 * 1024;

enum class ReplyKind { replied, ended, late };

struct Reply {
    ReplyKind kind = ReplyKind::ended;
    std::string text = {};  // the message; or how the child ended, "killed by signal 6 (Aborted)";
                            // or "no answer within 60 s"
};

// The child's end of the channel. Each call blocks; false or "" when the parent is gone.
class ParentChannel {
public:
    explicit ParentChannel(int socket) : socket_(socket) {}
    bool send(std::string_view message) const;
    std::string receive() const;
    int socket() const { return socket_; }

private:
    int socket_;
};

class ChildProcess {
public:
    // What the child does; it leaves with _exit(0) when the body returns.
    using Body = std::function<void(ParentChannel)>;

    // Forks. The child keeps `descriptor`; what it writes to either standard stream reaches our
    // standard error while we wait for it, with its control characters made visible. It ignores
    // SIGINT, has a process group of its own, and dies when the calling thread ends.
    static Expected<ChildProcess> start(int descriptor, const Body& body);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    // A message that a dead child did not get shows in the next receive.
    void send(std::string_view message);

    // Unless it replied, the child has been killed and reaped.
    Reply receive(std::chrono::milliseconds timeout);

    // Closes the channel, which asks the child to end, waits, kills. "" if it ended by itself and
    // with exit code 0, otherwise how it ended.
    std::string finish(std::chrono::milliseconds patience);

private:
    ChildProcess(pid_t pid, int socket, ChildOutput output)
        : pid_(pid), socket_(socket), output_(std::move(output)) {}
    bool has_ended() const;
    bool wait_until_ended(std::chrono::milliseconds patience);
    Reply read_message();
    std::string kill_and_reap();

    pid_t pid_ = -1;
    int socket_ = -1;
    ChildOutput output_;
};

}  // namespace mx
