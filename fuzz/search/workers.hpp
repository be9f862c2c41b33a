// The workers of a search: processes that each search on a device of their own and leave their
// state on disk, and what all of them have found together. Used by the command fuzz.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/host/client.hpp"
#include "fuzz/search/search.hpp"

namespace mx::fuzz {

struct FuzzPlan {
    Opener open;  // the device, once in each worker
    std::vector<Case> themes;
    std::string folder;
    std::string scope;  // what is searched, in words
    std::uint64_t seed = 0;
    std::uint64_t workers = 1;
    std::chrono::milliseconds time{0};  // 0: without a limit
    std::uint64_t blocks = 0;           // of all workers together; 0: without a limit
    bool stops_at_first = false;
    bool resumes = false;
};

struct FuzzOutcome {
    Counts counts;
    std::vector<Coverage> coverage;     // of all workers, a theme once
    std::vector<Found> finds;           // a kind once
    std::vector<std::string> given_up;  // why a worker stopped early
    double seconds = 0;
    bool interrupted = false;
};

// What the caller says and hears meanwhile.
struct FuzzWatch {
    std::function<bool()> is_interrupted;
    std::function<void(std::uint64_t blocks, std::uint64_t finds)> progress;
};

// Runs them and waits. An error is about a worker's state, or a device that does not open.
Expected<FuzzOutcome> run_workers(const FuzzPlan& plan, const FuzzWatch& watch);

}  // namespace mx::fuzz
