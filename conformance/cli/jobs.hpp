// How many processes share a command's work: --jobs of run and selftest.
#pragma once

#include <cstdint>
#include <string>

#include "reference/base/parallel.hpp"
#include "reference/base/status.hpp"

namespace mx::cli {

inline Status check_jobs(std::uint64_t jobs) {
    constexpr std::uint64_t most = 1024;
    if (jobs <= most) return success();
    return bad_input("--jobs '" + std::to_string(jobs) + "' is more than " + std::to_string(most));
}

// One per core, and no more than fit into most memories.
inline std::size_t jobs_for_cores() {
    return static_cast<std::size_t>(threads_for_cores());
}

}  // namespace mx::cli
