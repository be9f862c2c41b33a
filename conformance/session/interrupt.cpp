// See interrupt.hpp.
#include "conformance/session/interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace mx::session {
namespace {

// What a handler may touch. The text is set before the handler is.
volatile std::sig_atomic_t interrupt_seen = 0;
std::string_view interrupt_answer;

// Written from the handler itself: a device may keep the program waiting for its whole timeout.
void on_interrupt(int signal_number) {
    const int interrupted_error = errno;
    interrupt_seen = 1;
    [[maybe_unused]] const ssize_t count =
        ::write(2, interrupt_answer.data(), interrupt_answer.size());
    std::signal(signal_number, SIG_DFL);
    errno = interrupted_error;
}

}  // namespace

void catch_interrupts(std::string_view answer) {
    interrupt_answer = answer;
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return interrupt_seen != 0;
}

}  // namespace mx::session
