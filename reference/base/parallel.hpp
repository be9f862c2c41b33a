// Independent work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace mx {

// One per core, and no more than 16: what is asked for without a word of the user's.
inline int threads_for_cores() {
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
}

// Calls work(i) for every i below `count`.
template <typename Work>
void parallel_for(std::size_t count, int threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto drain = [&] {
        for (std::size_t i; (i = next++) < count;) work(i);
    };
    std::vector<std::jthread> pool;
    for (int thread = 1; thread < threads; ++thread) pool.emplace_back(drain);
    drain();
}

}  // namespace mx
