// Signals, descriptors and exit of a device's process: see child_setup.hpp. Used by ChildProcess.
#include "device/host/child_setup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace mx {

namespace {

// The program's files, sockets and other devices' channels are none of a plug-in's business; held
// open here they would also outlive the program.
void close_others(const ChildSetup& setup) {
    const auto low = static_cast<unsigned>(std::min(setup.channel, setup.descriptor));
    const auto high = static_cast<unsigned>(std::max(setup.channel, setup.descriptor));
    constexpr unsigned after_standard_error = 3;
    if (low > after_standard_error) close_descriptors({after_standard_error, low - 1});
    if (high > low + 1) close_descriptors({low + 1, high - 1});
    close_descriptors({high + 1, UINT_MAX});
}

// The program's own handlers are not for this process, and a crash must end it.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    // Ctrl-C is for the program, which then ends us, and so is what a launcher sends to all
    // processes of a job: a device that it ends would have crashed.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);  // output that nobody reads is no reason to die
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void redirect_standard_streams() {
    hold_standard_streams();
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) {
        ::dup2(nothing, STDIN_FILENO);
        if (nothing != STDIN_FILENO) ::close(nothing);
    }
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    // Unbuffered, so that what a plug-in printed before it crashed is seen.
    std::setvbuf(stdout, nullptr, _IONBF, 0);
}

// exit() in a plug-in must not run what the program registered for its own end.
void leave_at_exit(int code, void*) {
    ::_exit(code);
}

}  // namespace

void close_descriptors(DescriptorRange range) {
    auto [first, last] = range;
    // None is beyond the hard limit. An emulated processor walks through all that are named here.
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        last = static_cast<unsigned>(std::min<rlim_t>(last, limit.rlim_max));
    if (first > last || ::close_range(first, last, 0) == 0) return;
    // Kernels before 5.9 and some sandboxes have no close_range.
    const long most = std::min(::sysconf(_SC_OPEN_MAX), 65536L);
    for (long at = first; at < most && at <= static_cast<long>(last); ++at) {
        ::close(static_cast<int>(at));
    }
}

void hold_standard_streams() {
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDWR);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) ::close(descriptor);
}

int beyond_standard_streams(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int problem = errno;
    ::close(descriptor);
    errno = problem;
    return moved;
}

void set_up_child(const ChildSetup& setup) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != setup.parent) ::_exit(EXIT_FAILURE);
    close_others(setup);
    redirect_standard_streams();
    reset_signals();
    ::on_exit(leave_at_exit, nullptr);
}

}  // namespace mx
