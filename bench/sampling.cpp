// See sampling.hpp.
#include "bench/sampling.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mx::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up = 2, rounds_min = 12, rounds_max = 100;
// What one sample lasts, by as many runs as that takes. Emptying the caches before each run costs
// more than most runs do, so there are few of those: on a GPU a tenth of a millisecond.
constexpr double sample_seconds = 1e-3;
constexpr double warm_runs_max = 1000, cold_runs_max = 16;
constexpr std::size_t flush_bytes_min = std::size_t{64} << 20;
constexpr std::size_t flush_bytes_max = std::size_t{256} << 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Status empty_caches(bool on_gpu) {
    if (on_gpu) return gpu::flush();
    const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    static Buffer buffer(std::clamp(2 * static_cast<std::size_t>(std::max(cache, 0L)),
                                    flush_bytes_min, flush_bytes_max));
    for (std::size_t i = 0; i < buffer.size(); i += 64) ++buffer.data()[i];
    return success();
}

// The mean of a batch of runs: by the device's own clock, or from outside.
Expected<double> one_sample(const Run& run, const Rounds& rounds, std::uint64_t batch) {
    double own = 0, outside = 0;
    Clock::time_point start = Clock::now();
    for (std::uint64_t i = 0; i < batch; ++i) {
        if (rounds.is_cold) {
            if (const Status empty = empty_caches(rounds.on_gpu); !empty) return empty.error();
            start = Clock::now();
        }
        const auto seconds = run();
        if (!seconds) return seconds.error();
        own += seconds.value();
        if (rounds.is_cold || i + 1 == batch) outside += seconds_since(start);
    }
    return (own >= 0 ? own : outside) / static_cast<double>(batch);
}

std::uint64_t batch_of(double expected, const Rounds& rounds) {
    const double most = !rounds.is_cold ? warm_runs_max : rounds.on_gpu ? cold_runs_max : 1;
    return static_cast<std::uint64_t>(std::clamp(std::ceil(sample_seconds / expected), 1.0, most));
}

double at_share(std::vector<double> samples, double share) {
    std::sort(samples.begin(), samples.end());
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
}

// The samples of early or late rounds that ran the jobs, or their twins.
std::vector<double> quarter_of(const std::vector<double>& samples, std::size_t quarter) {
    std::vector<double> chosen;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if ((2 * i < samples.size() ? 0u : 2u) + i % 2 == quarter) chosen.push_back(samples[i]);
    return chosen;
}

void summarize(Job& job, bool is_cold) {
    results::BenchRow& row = job.row;
    row.cache = is_cold ? "cold" : "warm";
    row.samples = job.samples.size();
    row.seconds = at_share(job.samples, 0.5);
    row.low = at_share(job.samples, 0.1);
    row.high = at_share(job.samples, 0.9);
    for (std::size_t i = 0; i < row.quarters.size(); ++i)
        row.quarters[i] = at_share(quarter_of(job.samples, i), 0.5);
}

// Every job once. In warm-up rounds the samples only say how many runs a sample needs.
Status one_round(std::vector<Job>& jobs, const Rounds& rounds, int round) {
    for (Job& job : jobs) {
        const Run& run = round % 2 != 0 && job.twin ? job.twin : job.run;
        const auto seconds = one_sample(run, rounds, round < 0 ? 1 : job.row.batch);
        if (!seconds) return seconds.error();
        if (round < 0)
            job.row.batch = batch_of(seconds.value(), rounds);
        else
            job.samples.push_back(seconds.value());
    }
    return success();
}

}  // namespace

Status sample(std::vector<Job>& jobs, const Rounds& rounds) {
    for (Job& job : jobs) {
        job.samples.clear();
        job.row.state_before = rounds.on_gpu ? gpu::state() : "";
    }
    const double budget = rounds.seconds * static_cast<double>(jobs.size());
    const Clock::time_point start = Clock::now();
    for (int round = -warm_up; round < rounds_max; ++round) {
        const bool is_over = seconds_since(start) > budget;
        if (round >= rounds_min && round % 2 == 0 && is_over) break;
        if (const Status done = one_round(jobs, rounds, round); !done) return done;
    }
    for (Job& job : jobs) {
        job.row.state_after = rounds.on_gpu ? gpu::state() : "";
        summarize(job, rounds.is_cold);
    }
    return success();
}

}  // namespace mx::bench
