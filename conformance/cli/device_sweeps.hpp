// Which sweeps on a GPU belong to a run, by the device and the level.
#pragma once

#include <vector>

#include "conformance/cli/device_choice.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx::cli {

// The kernels of `cuda` over whole domains belong to the widest level; the GEMMs of `cublaslt` and
// `hopper`, some to quick and more to the levels above it. Nothing for any other device. From which
// level on, optional_devices has.
std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level);

// "cuda has them from level exhaustive on, hopper from level quick on"
std::string who_has_sweeps();

}  // namespace mx::cli
