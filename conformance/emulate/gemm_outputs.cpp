// See gemm_outputs.hpp.
#include "conformance/emulate/gemm_outputs.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace mx::emulate {

std::int64_t do_outputs(const TensorGemm& problem, std::uint64_t jobs, const OutputWork& work,
                        const OutputWatch& watch) {
    const std::int64_t outputs = problem.outputs();
    const std::int64_t piece = gemm::outputs_at_once(problem.view());
    std::atomic<std::int64_t> next{0}, done{0};
    const auto drain = [&](const auto& after_piece) {
        for (std::int64_t first; (first = next.fetch_add(piece)) < outputs;) {
            const std::int64_t end = std::min(outputs, first + piece);
            work(gemm::OutputRange{first, end});
            done += end - first;
            after_piece();
        }
    };
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < (jobs == 0 ? cores : jobs); ++i)
        others.emplace_back([&] { drain([] {}); });
    drain([&] {
        if (!watch(done)) next = outputs;
    });
    others.clear();
    return done;
}

}  // namespace mx::emulate
