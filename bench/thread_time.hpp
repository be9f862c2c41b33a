// How long a thread computed, and the middle of some samples. Used by the tables of ratios.
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

namespace mx::bench {

// Processor time of this thread.
inline double seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

}  // namespace mx::bench
