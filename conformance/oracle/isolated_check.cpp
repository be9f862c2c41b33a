// See isolated_check.hpp.
#include "conformance/oracle/isolated_check.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "device/host/child_process.hpp"
#include "reference/base/text.hpp"

namespace mx {
namespace {

using Clock = std::chrono::steady_clock;

// After a fork a child has one thread, and whatever the others held is held for ever.
bool has_threads() {
    std::error_code error;
    std::filesystem::directory_iterator threads("/proc/self/task", error), end;
    return !error && threads != end && ++threads != end;
}

// What this process has mapped already, and so much more. A fraction gone wrong can want gigabytes.
rlim_t memory_limit() {
    constexpr rlim_t more = rlim_t{256} << 20;
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages == 0 ? RLIM_INFINITY : pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more;
}

// The sentence says how the child ended: neither a core file nor what it prints is wanted.
void limit_child(const CheckLimits& limits) {
    const auto seconds = static_cast<rlim_t>(limits.processor.count());
    const rlimit processor{seconds, seconds + 1}, memory{memory_limit(), memory_limit()};
    const rlimit core{0, 0};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &core);
    const int nothing = ::open("/dev/null", O_WRONLY);
    if (nothing < 0) return;
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
}

// A message is never empty: that is the end of the channel.
constexpr char mark = '=';

// One reply a check, so that the parent knows in which of them the child ended.
std::string first_fault(ChildProcess& child, std::span<const OracleCheck> checks,
                        const CheckLimits& limits) {
    const auto deadline = Clock::now() + limits.time;
    for (const OracleCheck& check : checks) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        const Reply reply = child.receive(left);
        if (reply.kind == ReplyKind::late)
            return broken_oracle(check.name + ": no answer within " + to_text(limits.time));
        if (reply.kind != ReplyKind::replied) return broken_oracle(check.name + ": " + reply.text);
        if (reply.text.size() > 1) return broken_oracle(check.name + ": " + reply.text.substr(1));
    }
    return "";
}

}  // namespace

std::string fault_in_child(std::span<const OracleCheck> checks, const CheckLimits& limits) {
    if (has_threads()) return fault_of_oracle(checks);
    auto child = ChildProcess::start(STDERR_FILENO, [&](ParentChannel parent) {
        limit_child(limits);
        for (const OracleCheck& check : checks)
            if (!parent.send(mark + outcome_of(check))) return;
    });
    return child ? first_fault(child.value(), checks, limits) : fault_of_oracle(checks);
}

const std::string& isolated_oracle_fault() {
    return oracle_fault(
        [](std::span<const OracleCheck> checks) { return fault_in_child(checks, {}); });
}

}  // namespace mx
