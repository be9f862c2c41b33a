// The sweeps of a run on the CUDA device as errands of its campaign.
#pragma once

#include <vector>

#include "conformance/cli/campaign.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx::cli {

// The GPU is looked for when the first is run. Made by gpu_sweeps() and find_gpu() but in tests.
std::vector<Errand> sweep_errands(std::vector<sweep::GpuSweep> sweeps,
                                  std::function<Expected<sweep::Gpu>()> find_gpu);

}  // namespace mx::cli
