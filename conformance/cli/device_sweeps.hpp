// Which sweeps on a GPU belong to a run, by the device and the level.
#pragma once

#include <vector>

#include "conformance/cli/session.hpp"
#include "conformance/sweep/gpu_sweep.hpp"

namespace mx::cli {

// The kernels of `cuda` over whole domains belong to the widest level; the GEMMs of `cublaslt`,
// some to quick and more to the levels above it. Nothing for any other device.
std::vector<sweep::GpuSweep> device_sweeps(const DeviceChoice& choice, const std::string& level);

}  // namespace mx::cli
