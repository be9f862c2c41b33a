// The sweeps of a run on the CUDA device as tasks of its campaign.
#pragma once

#include <vector>

#include "conformance/session/campaign.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx::session {

// The GPU is looked for when the first is run. Made by gpu_sweeps() and find_gpu() but in tests.
std::vector<Task> sweep_tasks(std::vector<sweep::GpuSweep> sweeps,
                              std::function<Expected<sweep::Gpu>()> find_gpu);

}  // namespace mx::session
