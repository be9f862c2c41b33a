// Cases, or other work of which each piece ends in a line, in several processes at once, each of
// which opens a device of its own. Who does which case follows from its place in the list alone,
// and lines come back in the order of the list, so that a run writes the same bytes however fast
// each process is. With another number of processes the verdicts and counts of a device stay the
// same unless its answers hang on what it was asked before; how many mismatches of a badly failing
// device are classified does not, for each process spares its time after a hundred failing cases of
// its own. Used by campaign and the self-test.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results/file_descriptor.hpp"
#include "reference/base/status.hpp"

namespace mx::session {

class Workers {
public:
    // What one process does: the line of one of `remaining`, with its end, and, after the last of
    // them, the end of its device, if it has one. A line begins with no exclamation mark.
    struct Work {
        std::function<Expected<std::string>(std::size_t)> run;
        std::function<Status()> close = {};
    };

    // Forks `count` processes. Each calls `prepare` once, and what that returns for its part of
    // `remaining`. The calling process must have no other thread.
    static Expected<Workers> start(std::size_t count, const std::vector<std::size_t>& remaining,
                                   const std::function<Expected<Work>()>& prepare);
    Workers(Workers&&) = default;
    // Waits for the processes if every line has been taken; ends them otherwise.
    ~Workers();

    // The line of the next of `remaining`, without its end; nothing when the user has interrupted
    // the wait for it, or the process that was to give it is lost.
    Expected<std::optional<std::string>> next();
    // Was a process ended from outside before it had given all its lines?
    bool lost() const { return lost_; }

    // After the last line: how the processes closed their devices, of those that could not the
    // first.
    Status close();

private:
    struct Worker {
        pid_t process;
        results::FileDescriptor pipe;
        std::string read;  // and not yet returned
    };
    Workers() = default;
    // Nothing when the user has interrupted the wait for it, or the process has ended.
    static std::optional<std::string> read_line(Worker& worker);

    std::vector<Worker> workers_;
    std::size_t expected_ = 0;
    std::size_t returned_ = 0;
    bool lost_ = false;
};

}  // namespace mx::session
