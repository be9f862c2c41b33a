// See sweep_tasks.hpp.
#include "conformance/session/sweep_tasks.hpp"

#include <memory>

#include "conformance/run/sweep_result.hpp"
#include "conformance/session/interrupt.hpp"

namespace mx::session {
namespace {

using FoundGpu = std::optional<Expected<sweep::Gpu>>;

std::optional<results::CaseResult> run_sweep(const sweep::GpuSweep& sweep,
                                             const Expected<sweep::Gpu>& gpu) {
    // The device of this run has opened: a GPU that cannot be found now is lost or busy.
    const bool is_fault = !gpu && gpu.error().kind == ErrorKind::device;
    if (is_fault) return result_of(sweep, {}, Expected<sweep::SweepAnswer>(gpu.error()));
    if (!gpu) return not_supported(sweep, gpu.error().message);
    const std::string missing = missing_on(gpu.value(), sweep);
    if (!missing.empty()) return not_supported(sweep, missing);
    const auto answer = sweep.ask([](sweep::Parts) { return !interrupted(); });
    if (answer && !answer.value().complete) return std::nullopt;
    return result_of(sweep, gpu.value(), answer);
}

}  // namespace

std::vector<Task> sweep_tasks(std::vector<sweep::GpuSweep> sweeps,
                              std::function<Expected<sweep::Gpu>()> find_gpu) {
    const auto gpu = std::make_shared<FoundGpu>();
    std::vector<Task> tasks;
    for (sweep::GpuSweep& sweep : sweeps) {
        const std::string text = mx::text_of(sweep);
        tasks.push_back({text,
                         [sweep = std::move(sweep), gpu,
                          find_gpu]() -> Expected<std::optional<results::CaseResult>> {
                             if (!gpu->has_value()) gpu->emplace(find_gpu());
                             return run_sweep(sweep, **gpu);
                         }});
    }
    return tasks;
}

}  // namespace mx::session
