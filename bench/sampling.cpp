// See sampling.hpp.
#include "bench/sampling.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace mx::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds_min = 10, rounds_max = 60;
constexpr double sample_seconds_min = 200e-6;  // of a sample that is timed from outside
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

// Seconds of one run: the device's own, or from outside, then of so many runs that the clock does
// not matter.
Expected<double> one_sample(const Job& job, bool is_cold, double expected) {
    const int repeats = is_cold || expected <= 0
                            ? 1
                            : 1 + static_cast<int>(std::min(1e4, sample_seconds_min / expected));
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < repeats; ++i) {
        const auto own = job.run();
        if (!own || own.value() >= 0) return own;
    }
    return seconds_since(start) / repeats;
}

double at_share(std::vector<double> samples, double share) {
    std::sort(samples.begin(), samples.end());
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
}

std::vector<double> every_second(const std::vector<double>& samples, std::size_t first) {
    std::vector<double> half;
    for (std::size_t i = first; i < samples.size(); i += 2) half.push_back(samples[i]);
    return half;
}

void summarize(Job& job, bool is_cold) {
    results::BenchRow& row = job.row;
    row.cache = is_cold ? "cold" : "warm";
    row.samples = job.samples.size();
    row.seconds = at_share(job.samples, 0.5);
    row.low = at_share(job.samples, 0.1);
    row.high = at_share(job.samples, 0.9);
    row.first_half = at_share(every_second(job.samples, 0), 0.5);
    row.second_half = at_share(every_second(job.samples, 1), 0.5);
}

}  // namespace

Status sample(std::vector<Job>& jobs, const Rounds& rounds) {
    for (Job& job : jobs) {
        job.samples.clear();
        job.row.state_before = rounds.on_gpu ? gpu::state() : "";
    }
    const double budget = rounds.seconds * static_cast<double>(jobs.size());
    const Clock::time_point start = Clock::now();
    std::vector<double> expected(jobs.size(), 0);
    constexpr int warm_up = 2;
    for (int round = -warm_up; round < rounds_max; ++round) {
        const bool is_over = seconds_since(start) > budget;
        if (round >= rounds_min && round % 2 == 0 && is_over) break;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (rounds.is_cold)
                if (const Status empty = empty_caches(rounds.on_gpu); !empty) return empty;
            const auto seconds = one_sample(jobs[i], rounds.is_cold, expected[i]);
            if (!seconds) return seconds.error();
            expected[i] = seconds.value();
            if (round >= 0) jobs[i].samples.push_back(seconds.value());
        }
    }
    for (Job& job : jobs) {
        job.row.state_after = rounds.on_gpu ? gpu::state() : "";
        summarize(job, rounds.is_cold);
    }
    return success();
}

}  // namespace mx::bench
