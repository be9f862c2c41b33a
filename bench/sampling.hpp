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

// Runs it once; the seconds by the device's own clock, or below 0 where it has none.
using Run = std::function<Expected<double>()>;

struct Job {
    results::BenchRow row;
    Run run;
    // The same on other tensors of the same data, if it has such: where memory lies is then part of
    // what a row is known to scatter by.
    Run twin = {};
    std::vector<double> samples = {};
};

struct Rounds {
    bool is_cold = false;  // caches are emptied before each run
    bool on_gpu = false;
    double seconds = 1;  // that the samples of one job may take
};

// Fills the rows of the jobs. Even rounds run the jobs, odd ones their twins; with the early and
// the late rounds apart these are the four quarters of a row.
Status sample(std::vector<Job>& jobs, const Rounds& rounds);

}  // namespace mx::bench
