// Jobs measured in turns: each round runs every job once, so that what else the machine does, or
// its clock, meets all of them. Used by throughput.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/placed.hpp"
#include "conformance/results/bench_record.hpp"

namespace mx::bench {

struct Job {
    results::BenchRow row;
    // Runs it once; the seconds by the device's own clock, or below 0 where it has none.
    std::function<Expected<double>()> run;
    std::vector<double> samples = {};
};

struct Rounds {
    bool is_cold = false;  // caches are emptied before each run
    bool on_gpu = false;
    double seconds = 1;  // that the samples of one job may take
};

// Fills the rows of the jobs; even and odd rounds are the two halves.
Status sample(std::vector<Job>& jobs, const Rounds& rounds);

}  // namespace mx::bench
